// Package framing removes the framing around an event in a record.
//
//	confluent    a byte 0, the id of a schema in 4 bytes, the highest first, then the event. Of Protobuf stands a list
//	             between them: the place of the message type in its schema file, from outside, as zigzag varints behind
//	             their count; a count of 0 stands for the list of one 0.
//	cloudevents  a JSON object, CloudEvents 1.0 in structured mode: the event is its member data, or in base64 its member
//	             data_base64. specversion must be "1.0"; other members are passed over.
//
// In binary mode CloudEvents have no framing, because their attributes are record headers.
//
// A Table holds the known schema ids, and the offsets from which on they are known. So decoding is a function of the
// record, of its position in the input and of the frozen schemas of the deployment. It never queries a registry.
package framing
