package service_test

import (
	"fmt"
	"strings"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// badRecords returns records that are each malformed in a different way. They contain the canary wherever possible.
func badRecords() []records.Record {
	values := []string{
		`{"features":{"carrier":"` + servicetest.Canary + `"},"label":1`, // the JSON ends too early
		`{"features":{"` + servicetest.Canary + `":1},"label":7}`,
		`{"features":{"` + servicetest.Canary + `":1},"label":"` + servicetest.Canary + `"}`,
		`{"features":{"` + servicetest.Canary + `":1},"label":1,"` + servicetest.Canary + `":2}`,
		`{"features":{"a":1,"a":"` + servicetest.Canary + `"},"label":1}`,
		`{"Features":{"a":"` + servicetest.Canary + `"},"label":1}`,
		`{"features":["` + servicetest.Canary + `"],"label":1}`,
		`{"features":[1,2],"label":1}`,
		`{"features":{"a":null,"b":"` + servicetest.Canary + `"},"label":1}`,
		`{"features":{"a":NaN,"b":"` + servicetest.Canary + `"},"label":1}`,
		`{"features":{"a":1e999,"b":"` + servicetest.Canary + `"},"label":1}`,
		`{"features":{"a":"` + servicetest.Canary + `\ud800"},"label":1}`,
		`{"features":{"a":"` + servicetest.Canary + "\xff" + `"},"label":1}`,
		"\ufeff" + `{"features":{"a":"` + servicetest.Canary + `"},"label":1}`,
		`{"features":{"a":"` + servicetest.Canary + `"},"label":1} ` + servicetest.Canary,
		`[[[[[[[[[["` + servicetest.Canary + `"]]]]]]]]]]`,
		strings.Repeat("[", 200_000) + servicetest.Canary,
		`{"features":{"indices":[99],"values":[1]},"label":1}`,
		`{"features":{"a":"` + servicetest.Canary + `"},"label":1,"weight":-1}`,
		`"` + servicetest.Canary + `"`,
		servicetest.Canary,
		`{"features":{"a":"` + strings.Repeat(servicetest.Canary, 100_000) + `"},"label":1}`, // a value of 1 MB
	}
	list := []records.Record{{}, {Value: []byte{}}} // a tombstone, and a record with an empty value
	for i, v := range values {
		list = append(list, records.Record{
			Key: []byte(servicetest.Canary), Value: []byte(v),
			Headers: records.HeadersOf(
				records.Header{Key: servicetest.Canary, Value: []byte(servicetest.Canary)},
				records.Header{Key: "n", Value: fmt.Append(nil, i)},
			),
		})
	}
	return list
}

// atOffsets maps consecutive offsets, beginning with first, to the records.
func atOffsets(first int64, list []records.Record) map[int64]records.Record {
	m := map[int64]records.Record{}
	for i, r := range list {
		m[first+int64(i)] = r
	}
	return m
}
