package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func all(int) bool { return true }

// shop returns an index of a few products.
func shop() *Index {
	x := New()
	x.Put(1, []Entry{{Sort: Product, Title: "Payments", Text: "Take cards and transfers"}, {Sort: Operation, Title: "Create a refund", Text: "POST /refunds createRefund", API: "pay", Anchor: "post-refunds"}})
	x.Put(2, []Entry{{Sort: Product, Title: "Pet store", Text: "Buy and sell"}, {Sort: Tutorial, Title: "First payment"}})
	x.Put(3, []Entry{{Sort: Product, Title: "Müller Straße", Text: "Größe"}})
	x.Put(4, []Entry{{Sort: Product, Title: "Secret paymentz"}})
	return x
}

// TestFind: the matching products and their order.
func TestFind(t *testing.T) {
	x := shop()
	for query, want := range map[string][]int{
		"payment": {1, 4, 2}, "payments": {1}, "PAYMENTS": {1}, "paymnets": {1, 4, 2}, "pay refund": {1}, "refunds": {1}, "refnud": {1}, "createRefund": {1},
		"tore": {2}, "pe": {2}, "et": nil, "cards transfers": {1}, "cards sell": nil, "müller": {3}, "MÜLLER": {3}, "mueller": nil, "strasse": nil, "größ": {3}, "": nil, "%": nil, "  ": nil,
		"car": {1}, "crd": nil, "crads": {1}, "store pet": {2}, "secret": {4},
	} {
		var got []int
		for _, h := range x.Find(query, all) {
			got = append(got, h.Product)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	hits := x.Find("refund", all)
	if len(hits) != 1 || len(hits[0].Entries) != 1 || hits[0].Entries[0].Anchor != "post-refunds" {
		t.Errorf("%+v", hits)
	}
}

// TestUnseen: products that are not allowed do not affect the result.
func TestUnseen(t *testing.T) {
	x, without := shop(), shop()
	without.Drop(4)
	for _, query := range []string{"paymentz", "payment", "secret", "paymnetz"} {
		with := x.Find(query, func(id int) bool { return id != 4 })
		if got, want := fmt.Sprint(with), fmt.Sprint(without.Find(query, all)); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// TestForget: removed products leave no terms, and their words are reused.
func TestForget(t *testing.T) {
	x := shop()
	for i := range 50 {
		x.Put(7, []Entry{{Sort: Product, Title: fmt.Sprintf("word%d other%d", i, i)}})
	}
	if n := len(x.Find("word", all)); n != 1 {
		t.Error(n)
	}
	for id := range x.books {
		x.Drop(id)
	}
	x.Drop(9)
	if x.terms != 0 || len(x.ids) != 0 || len(x.words) > 40 || len(x.free) != len(x.words) {
		t.Error(x.terms, len(x.ids), len(x.words), len(x.free))
	}
}

// TestBounds: a product with too much text is found by the beginning of the text.
func TestBounds(t *testing.T) {
	x := New()
	var many []Entry
	for i := range MaxEntries + 10 {
		many = append(many, Entry{Sort: Operation, Title: fmt.Sprintf("operation number%d", i), Text: strings.Repeat(fmt.Sprintf("x%d ", i), maxText)})
	}
	x.Put(1, many)
	if len(x.books[1].entries) != MaxEntries || len(x.books[1].terms) > maxTerms {
		t.Error(len(x.books[1].entries), len(x.books[1].terms))
	}
	if len(x.Find("number9", all)) != 1 || len(x.Find(strings.Repeat("operation ", 5000)+" nothing", all)) != 1 || len(x.Find(strings.Repeat("x", 5000), all)) != 0 {
		t.Error("not found")
	}
}

// TestLikeness: how words are compared.
func TestLikeness(t *testing.T) {
	for _, c := range []struct {
		asked, text string
		want        likeness
	}{
		{"pay", "pay", same}, {"pay", "payment", begins}, {"yme", "payment", inside}, {"ym", "payment", unlike}, {"pya", "pay", unlike},
		{"ordre", "order", mistype}, {"oder", "order", mistype}, {"orderr", "order", mistype}, {"ardre", "order", unlike}, {"ordre", "orderbook", starts},
		{"subscripshun", "subscription", unlike}, {"subscribtoin", "subscription", mistype}, {"zahlung", "payment", unlike}, {"größ", "größe", begins}, {"grösse", "größe", unlike}, {"", "x", begins},
	} {
		if got := like(c.asked, c.text); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.asked, c.text, got, c.want)
		}
	}
}

// TestMarked: the displayed pieces of a text.
func TestMarked(t *testing.T) {
	for _, c := range []struct{ text, query, want string }{
		{"Create a refund", "refund", "Create a [refund]"}, {"Refunds and refund", "refund", "[Refunds] and [refund]"}, {"Create a refund", "refnud", "Create a [refund]"},
		{"Refumd a refund", "refund", "Refumd a [refund]"}, {"createRefund", "refund", "create[Refund]"}, {"", "x", ""}, {"abc", "", "abc"}, {"<b>x</b>", "b", "<[b]>x</[b]>"},
		{strings.Repeat("word ", 100) + "needle in it", "needle", "… " + strings.Repeat("word ", 11) + "[needle] in it"},
		{strings.Repeat("ä", 300), "x", strings.Repeat("ä", 100) + " …"},
	} {
		var b strings.Builder
		for _, p := range Marked(c.text, c.query) {
			if p.Hit {
				p.Text = "[" + p.Text + "]"
			}
			b.WriteString(p.Text)
		}
		if b.String() != c.want {
			t.Errorf("%q %q: %q, want %q", c.text, c.query, b.String(), c.want)
		}
	}
}

// TestPlain: tags are removed.
func TestPlain(t *testing.T) {
	for html, want := range map[string]string{"a": "a", "<p>a</p>b": " a b", "a<b": "a ", "": "", "<": " ", "1 < 2 > 3": "1   3"} {
		if got := Plain(html); got != want {
			t.Errorf("%q: %q, want %q", html, got, want)
		}
	}
}

// FuzzMarked: the pieces give the text or a part of it, in whole characters.
func FuzzMarked(f *testing.F) {
	for _, s := range []string{"Create a refund", strings.Repeat("größe ", 80), "ſſ İ ẞ", "\xff\xfe", "ΑΣ Σας"} {
		f.Add(s, "größe refund")
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		var b strings.Builder
		for _, p := range Marked(text, query) {
			b.WriteString(p.Text)
		}
		got := strings.TrimSuffix(strings.TrimPrefix(b.String(), "… "), " …")
		if !strings.Contains(text, got) && !strings.Contains(text, strings.TrimSpace(got)) || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q %q: %q", text, query, got)
		}
		x := New()
		x.Put(1, []Entry{{Sort: Product, Title: text}})
		x.Find(query, all)
		x.Drop(1)
		if x.terms != 0 || len(x.ids) != 0 {
			t.Error("something is left")
		}
	})
}

// BenchmarkFind searches 1,000 products with 40 operations each.
func BenchmarkFind(b *testing.B) {
	x := New()
	for p := range 1000 {
		entries := []Entry{{Sort: Product, Title: fmt.Sprintf("Product %d", p), Text: "Sells and buys things of many sorts, every day of the year"}}
		for o := range 40 {
			entries = append(entries, Entry{Sort: Operation, Title: fmt.Sprintf("Change the thing%d of customer%d", o, p%50), Text: fmt.Sprintf("PUT /customers/{id}/things%d replaceThing%d", o, p)})
		}
		x.Put(p, entries)
	}
	for name, query := range map[string]string{"one": "thing7", "mistyped": "custmoer", "many": "change the customer thing with all of its words here"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				x.Find(query, all)
			}
		})
	}
}
