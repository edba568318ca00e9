package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

func (c *cli) audit() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Verify and export the audit trail"}
	cmd.AddCommand(c.auditVerify(), c.auditExport(), c.auditCheckpoints())
	return cmd
}

func (c *cli) auditVerify() *cobra.Command {
	var anchors string
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify the audit trail of the store, or an exported file",
		Long: `Reads all records and checks hashes and signatures. The command prints a line for each
record that was changed, removed, inserted or moved, and exits with 1 if there is any.

A trail that was cut at its end together with its last checkpoint looks complete. To
detect this, keep the output of "gatehouse audit checkpoints" elsewhere and pass it with
--checkpoints.

With --public-key, a file is verified without the store.`,
		Example: "  gatehouse audit verify --checkpoints yesterday.jsonl\n  gatehouse audit verify trail.jsonl --public-key 1f2e3d4c:<base64>",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kept, err := readCheckpoints(anchors)
			if err != nil {
				return err
			}
			var v *audit.Verifier
			switch {
			case len(args) == 1 && len(keys) > 0:
				known, err := parseKeys(keys)
				if err != nil {
					return err
				}
				v, err = verifyFile(args[0], known, kept)
				return c.verified(v, err)
			case len(keys) > 0:
				return errors.New("--public-key is for a FILE: the store is verified with its own keys")
			}
			err = c.trail(cmd.Context(), func(a *app.App) (err error) {
				if len(args) == 1 {
					v, err = verifyFile(args[0], a.Trail().Signer.PublicKey, kept)
				} else {
					v, err = a.Trail().Verify(cmd.Context(), kept...)
				}
				return err
			})
			return c.verified(v, err)
		},
	}
	cmd.Flags().StringVar(&anchors, "checkpoints", "", "`FILE` with checkpoints that were kept elsewhere")
	cmd.Flags().StringArrayVar(&keys, "public-key", nil, "`NAME:BASE64` of a public key, as \"gatehouse audit checkpoints --keys\" prints it; can be repeated")
	return cmd
}

// verified prints the result of a verification.
func (c *cli) verified(v *audit.Verifier, err error) error {
	if err != nil {
		return err
	}
	for _, f := range v.Findings {
		fmt.Fprintln(c.out, f)
	}
	if n := len(v.Findings); n > 0 {
		return fmt.Errorf("the trail is not as it was written: %d %s", n, plural(n, "finding"))
	}
	_, err = fmt.Fprintf(c.out, "all is well: %d records\n", v.Records)
	return err
}

func (c *cli) auditExport() *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the audit trail as JSON lines, with its checkpoints",
		Long: `Prints records and checkpoints, one on each line. The service may run meanwhile, and
its writes are not blocked. "gatehouse audit verify FILE" verifies the output.`,
		Example: "  gatehouse audit export > trail.jsonl\n  gatehouse audit export --org-id 5f1a0c5d8e3b2a1f00000001",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.trail(cmd.Context(), func(a *app.App) error {
				var only *tenant.ID
				if org != "" {
					only = (*tenant.ID)(&org)
				}
				out := bufio.NewWriter(c.out)
				return errors.Join(a.Trail().Export(cmd.Context(), out, only), out.Flush())
			})
		},
	}
	cmd.Flags().StringVar(&org, "org-id", "", "only records of this organisation (*: records without an organisation)")
	return cmd
}

func (c *cli) auditCheckpoints() *cobra.Command {
	var keys bool
	cmd := &cobra.Command{
		Use:   "checkpoints",
		Short: "Print the last checkpoint of each organisation's trail, to keep it elsewhere",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.trail(cmd.Context(), func(a *app.App) error {
				if !keys {
					return a.Trail().Checkpoints(cmd.Context(), c.out)
				}
				name := a.Trail().Signer.SigningKey()
				key, _ := a.Trail().Signer.PublicKey(name)
				_, err := fmt.Fprintf(c.out, "%s:%s\n", name, base64.StdEncoding.EncodeToString(key))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&keys, "keys", false, "print the current public key instead, as name:base64")
	return cmd
}

// trail calls fn with an App over the configured store, to read its audit trail.
func (c *cli) trail(ctx context.Context, fn func(*app.App) error) (err error) {
	s, log, err := c.settings()
	if err != nil {
		return err
	}
	if s.Storage.Type == config.Memory {
		return errors.New("storage.main.type is memory: there is no audit trail")
	}
	s.Audit.Enabled, s.Audit.Store = true, config.AuditDB // so that records can be read although the trail is switched off
	comp, err := serve.ComposeFor(ctx, s, log, buildVersion(), serve.Purpose{Beside: true, Stored: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, comp.Close()) }()
	if err := comp.Start(ctx); err != nil {
		return err
	}
	return errors.Join(fn(comp.App), comp.Stop(ctx))
}

// maxLine bounds a line of a file; every record is much shorter.
const maxLine = 4 << 20

func verifyFile(path string, keys audit.Keys, anchors []audit.Checkpoint) (*audit.Verifier, error) {
	v := &audit.Verifier{Keys: keys, Anchors: anchors}
	err := eachLine(path, func(line []byte) error {
		v.Line(line)
		return nil
	})
	v.End()
	return v, err
}

func eachLine(path string, fn func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(io.Reader(f))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if err := fn(lines.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func readCheckpoints(path string) (out []audit.Checkpoint, err error) {
	if path == "" {
		return nil, nil
	}
	err = eachLine(path, func(line []byte) error {
		var l struct {
			Checkpoint *audit.Checkpoint `json:"checkpoint"`
		}
		if err := json.Unmarshal(bytes.TrimSpace(line), &l); err != nil || l.Checkpoint == nil {
			return fmt.Errorf("%.60q is no checkpoint", line)
		}
		out = append(out, *l.Checkpoint)
		return nil
	})
	return out, err
}

// parseKeys parses entries of the form name:base64.
func parseKeys(list []string) (audit.Keys, error) {
	keys := map[string]ed25519.PublicKey{}
	for _, text := range list {
		name, encoded, ok := strings.Cut(text, ":")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("--public-key %q: expected name:base64 of 32 bytes", text)
		}
		keys[name] = key
	}
	return func(name string) (ed25519.PublicKey, bool) { key, ok := keys[name]; return key, ok }, nil
}
