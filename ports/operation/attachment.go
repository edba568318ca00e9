package operation

import (
	"reflect"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Attachment is the body of a row that takes a file as it is: the only file of a form,
// multipart/form-data, in its part named file.
type Attachment struct {
	Name    string // as the client calls the file, without folders; it may be empty
	Content []byte
}

// Codes of the faults of forms with a file.
const (
	CodeForm  = "form.unreadable"
	CodeFiles = "form.files"
)

// NoForm says that a body is no form with a file.
func NoForm() error {
	return fault.New(fault.Invalid, CodeForm, "a form of the type multipart/form-data with one part named file is wanted")
}

// ManyFiles says that a form has more than one file.
func ManyFiles() error {
	return fault.New(fault.Invalid, CodeFiles, "only one file can be uploaded at a time").At("file")
}

// TakesAttachment reports whether the body of the operation is a file.
func (o *Operation) TakesAttachment() bool { return o.Body == reflect.TypeFor[Attachment]() }
