// Package framing removes the framing around an event in a record.
//
//	confluent    a byte 0, the id of a schema in 4 bytes, the highest first, then the event. For Protobuf a list is between
//	             them: the index of the message type in its schema file, from the outermost message, as zigzag varints
//	             after their count; a count of 0 means the list with the single index 0.
//	cloudevents  a JSON object, CloudEvents 1.0 in structured mode: the event is the member data, or in base64 the member
//	             data_base64. specversion must be "1.0"; other members are skipped.
//
// In binary mode CloudEvents have no framing, because their attributes are record headers.
//
// A Table holds the known schema ids, and for each the first offset at which it is known. So decoding is a function of
// the record, of its position in the input and of the frozen schemas of the deployment. It never queries a registry.
package framing
