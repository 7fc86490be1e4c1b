//go:build !kafka

package doctor_test

// realPlants is empty, because its plants need a broker that enforces rights and speaks TLS.
var realPlants []plant
