package portal_test

import (
	"strings"
	"testing"
)

// TestDropProduct removes products from a credential; the last product stays.
func TestDropProduct(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till", "description", "Pays")
	w.approved("1", "2", "1,2")
	const app = "/portal/private/apps/1"
	const off = app + "/access-requests/1/products"
	form := w.shows(w.open(app), 200, "Take off Payments", "Take off Shipping", `action="`+off+`"`)
	for _, fields := range [][]string{{"mode", "delete"}, {"mode", "delete", "product_id", "9"}, {"product_id", "1"}} {
		w.shows(w.submit(form, off, fields...), 422, "Choose a product that is to be taken off.")
	}
	w.shows(w.submit(form, app+"/access-requests/9/products", "mode", "delete", "product_id", "1"), 422, "Choose a product")
	left := w.shows(w.submit(form, off, "mode", "delete", "product_id", "1"), 200, "The product is off the credential.", "Shipping")
	if strings.Contains(left.text, "Take off") || strings.Contains(left.text, "Payments") {
		t.Error(left.text)
	}
	w.shows(w.submit(form, off, "mode", "delete"), 422, "the credential opens no other product: delete it, or end the access, instead")
	w.as("eve")
	w.shows(w.submit(form, off, "mode", "delete", "product_id", "2"), 400)
	w.shows(w.submit(w.open("/portal/private/apps/new"), off, "mode", "delete", "product_id", "2"), 404)
}
