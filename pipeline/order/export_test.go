package order

// Sign returns a signed order record with this body.
func (l Log) Sign(body []byte) []byte {
	body = append(append([]byte(nil), body...), l.Input[:]...)
	sum := l.sum(body)
	return append(body, sum[:]...)
}
