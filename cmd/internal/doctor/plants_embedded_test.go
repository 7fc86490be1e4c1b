//go:build !kafka

package doctor_test

// realPlants need a broker that enforces rights and speaks TLS.
var realPlants []plant
