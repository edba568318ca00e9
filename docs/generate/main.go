// Command generate writes the documentation that is made from the operation
// table and from the table of settings. With -check it writes nothing and fails
// when a file is not what it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

func main() {
	check := flag.Bool("check", false, "fail when a file is stale instead of writing it")
	dir := flag.String("dir", "docs", "where the documentation is")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	texts, err := faults(filepath.Join(dir, ".."))
	if err != nil {
		return err
	}
	const described = "../adapters/http/faults.json"
	stale, err := os.ReadFile(filepath.Join(dir, described))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	files, err := generated(dir)
	if err != nil {
		return err
	}
	if files[described] = texts; !check && !bytes.Equal(stale, texts) { // this program has the texts of before
		defer again(dir)
	}
	for name, want := range files {
		path := filepath.Join(dir, name)
		have, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(have, want):
		case check:
			return fmt.Errorf("%s is stale: run `make generate` and read the diff", path)
		default:
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, want, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// again runs the generator anew, with the texts that have just been written.
func again(dir string) {
	c := exec.Command("go", "run", "./"+filepath.Join(dir, "generate"), "-dir", dir)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generated returns the content of every generated file by name.
func generated(dir string) (map[string][]byte, error) {
	a, err := app.New(app.WithPortal(app.Portal{}))
	if err != nil {
		return nil, err
	}
	ops := a.Operations()
	files := map[string][]byte{
		"operations.md":    []byte(operations(ops)),
		"configuration.md": []byte(configuration()),
		"limits.md":        []byte(limits()),

		"wire/classic-fields.md": []byte(fields()),
	}
	byGroup, err := pages(ops, dir)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, byGroup)
	for _, s := range []operation.Surface{operation.Management, operation.Admin, operation.Node, operation.Portal} {
		text, err := httpadapter.Document(ops, s, app.APIVersion)
		if err != nil {
			return nil, err
		}
		n, err := doc.ParseNode(text)
		if err != nil {
			return nil, err
		}
		files["openapi/"+string(s)+".json"] = append(lines(nil, n, 0), '\n')
	}
	return files, nil
}

// lines writes a description with a line for each operation and each component, so that a
// change shows where it is.
func lines(b []byte, n *doc.Node, depth int) []byte {
	if n.Type() != doc.TypeObject || depth == 3 || n.Len() == 0 {
		return append(b, n.JSON()...)
	}
	b = append(b, '{')
	first := true
	for name, v := range n.Members() {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, '\n'), strings.Repeat(" ", depth+1)...)
		b = lines(append(doc.AppendString(b, name), ": "...), v, depth+1)
	}
	return append(append(append(b, '\n'), strings.Repeat(" ", depth)...), '}')
}

// operations prints the table.
func operations(ops []operation.Operation) string {
	var b strings.Builder
	b.WriteString("# Operations\n\nThe HTTP API for people who write clients: every operation, its request and who may call it.\n\nGenerated from the operation table by `make generate`; do not edit.\n\n" +
		"| operation | request | what it does | who may call it | success status |\n|---|---|---|---|---|\n")
	for _, o := range ops {
		fmt.Fprintf(&b, "| [`%s`](%s) | `%s %s` | %s | %s | %d |\n", o.ID, pageName(o.Tag), o.Method, o.Path, o.Summary, caller(o), o.Status)
	}
	b.WriteString("\n## Reserved words in paths\n\nIn some paths a fixed word stands where another operation takes an identifier. A resource whose identifier is such a word " +
		"can be reached by its database ID only.\n\n| word | request as an identifier | operation that is called |\n|---|---|---|\n")
	for _, r := range operation.ReservedWords(ops) {
		fmt.Fprintf(&b, "| `%s` | `%s %s` | `%s` |\n", r.Word, r.Of.Method, r.Of.Path, r.By.ID)
	}
	return b.String()
}

func configuration() string {
	return "# Configuration\n\nAll settings, for operators. Generated from the table of settings by `make generate`; do not edit.\n\n" +
		"Settings come from a JSON or YAML file (`--conf`) and from environment variables. A variable overrides the file. Its name is\n" +
		"the prefix `SVC_DB_` and the suffix of the setting. The prefix `TYK_DB_` works too; `SVC_DB_` overrides it.\n" +
		"`gatehouse config check` prints the settings in effect.\n\n" +
		config.Markdown() + "\n## Developer portal\n\nThe portal has settings of its own. They come from one file and from environment variables, which override it. The file is the one\n" +
		"that `portal.configuration` names; otherwise the file of `gatehouse portal --conf` if it has portal settings (it may have those\n" +
		"above as well); otherwise `portal.conf` in the working folder. The name of a variable is a prefix and the suffix: `SVC_PORTAL_`\n" +
		"overrides `TYK_PORTAL_`, which overrides `PORTAL_`. An invalid value stops the start. A setting with the effect \"not yet\" is read and\n" +
		"validated, and changes nothing.\n\n" +
		config.PortalMarkdown()
}
