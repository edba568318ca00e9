package mailtest

import (
	"io"
	"mime/quotedprintable"
	"net/mail"
	"strings"
)

// decoded returns the text of a mail that is plain text.
func decoded(m *mail.Message) (string, error) {
	r := m.Body
	if strings.EqualFold(m.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		r = quotedprintable.NewReader(r)
	}
	text, err := io.ReadAll(r)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}
