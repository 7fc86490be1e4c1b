package order

// Sign returns a record of the deployment with any body.
func (l Log) Sign(body []byte) []byte {
	body = append(append([]byte(nil), body...), l.Input[:]...)
	sum := l.sum(body)
	return append(body, sum[:]...)
}
