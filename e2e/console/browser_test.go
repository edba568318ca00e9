// Package console tests the operations console in a real browser, against the program
// as it is served.
package console_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }

// tab is a page that shows the console.
type tab struct{ *browser.Tab }

func open(t testing.TB, at string) *tab { return &tab{browser.Open(t, at)} }

func value[T any](b *tab, script string) T {
	b.T.Helper()
	return browser.Value[T](b.Tab, script)
}

func quote(s string) string { return browser.Quote(s) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// visit opens a view of the console.
func (b *tab) visit(place string) {
	b.T.Helper()
	must(b.T, b.Run("void (location.hash = "+quote("#/"+place)+")", nil))
}

// load reloads the page.
func (b *tab) load(place string) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, browser.Patience)
	defer cancel()
	must(b.T, chromedp.Do(ctx, chromedp.Navigate(b.At+"/#/"+place)))
}

// write replaces the text of the editor, as typing does.
func (b *tab) write(text string) {
	b.T.Helper()
	b.Wait("document.querySelector('.cm-content')")
	must(b.T, b.Run("document.querySelector('.cm-content').focus()", nil))
	b.Press("a", chromedp.ModifierCtrl)
	_, err := chromedp.Call(b.Ctx, input.InsertText, input.InsertTextParams{Text: text})
	must(b.T, err)
}
