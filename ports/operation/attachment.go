package operation

import (
	"reflect"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Attachment is the body of a row that takes a file unchanged: the only file of a
// multipart/form-data form, in its part named file.
type Attachment struct {
	Name    string // the client's file name, without folders; it may be empty
	Content []byte
}

// Codes of the faults of forms with a file.
const (
	CodeForm  = "form.unreadable"
	CodeFiles = "form.files"
)

// NoForm returns the fault for a body that is not a form with a file.
func NoForm() error {
	return fault.New(fault.Invalid, CodeForm, "a form of the type multipart/form-data with one part named file is wanted")
}

// ManyFiles returns the fault for a form with more than one file.
func ManyFiles() error {
	return fault.New(fault.Invalid, CodeFiles, "only one file can be uploaded at a time").At("file")
}

// TakesAttachment reports whether the body of the operation is a file.
func (o *Operation) TakesAttachment() bool { return o.Body == reflect.TypeFor[Attachment]() }
