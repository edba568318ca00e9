// Package s3 stores contents as objects of a bucket.
package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/load"
)

// Timeout of one call, and how many times it is attempted at most.
const (
	timeout  = 30 * time.Second
	attempts = 3
)

// Config says which bucket to use.
type Config struct {
	AccessKey, SecretKey string
	Region               string // "": the storage is asked
	Endpoint             string // address, as https://s3.example.com; "": the address of Amazon
	Bucket               string
	ACL                  string // of objects; "": the default of the bucket
	Links                bool   // browsers get signed addresses
	Transport            http.RoundTripper
}

// Storage is a bucket.
type Storage struct {
	Config
	client *minio.Client
	origin string // of links
}

// New returns the storage. Nothing is called yet.
func New(c Config) (*Storage, error) {
	for setting, value := range map[string]string{"S3.AccessKey": c.AccessKey, "S3.SecretKey": c.SecretKey, "S3.Bucket": c.Bucket} {
		if value == "" {
			return nil, fmt.Errorf("%s: Storage s3 needs it", setting)
		}
	}
	at := c.Endpoint
	if at == "" {
		at = "s3.amazonaws.com"
	}
	if !strings.Contains(at, "://") {
		at = "https://" + at
	}
	if c.Links && c.Region == "" { // links are made without a call
		return nil, errors.New("S3.Region: S3.PresignURLs needs it")
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("S3.Endpoint: write the address of the storage, as https://s3.example.com")
	}
	client, err := minio.New(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey, ""), Secure: u.Scheme == "https", Region: c.Region, Transport: c.Transport, MaxRetries: attempts,
	})
	if err != nil {
		return nil, fmt.Errorf("S3.Endpoint: %w", err)
	}
	s := &Storage{Config: c, client: client}
	link, err := s.Link(context.Background(), file.Place{Name: "origin"}, "", time.Minute)
	if err != nil || link == "" {
		return s, err
	}
	if u, err = url.Parse(link); err == nil { // with some endpoints the bucket is part of the host
		s.origin = u.Scheme + "://" + u.Host
	}
	return s, err
}

// Apart implements files.Storage.
func (*Storage) Apart() bool { return true }

// Keep implements files.Storage.
func (s *Storage) Keep(ctx context.Context, name string, content []byte) (file.Content, error) {
	if !file.Valid(name) {
		return file.Content{}, files.ErrName
	}
	ctx, end := context.WithTimeout(ctx, timeout)
	defer end()
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true}
	if s.ACL != "" {
		o.UserMetadata = map[string]string{"x-amz-acl": s.ACL}
	}
	_, err := s.client.PutObject(ctx, s.Bucket, name, bytes.NewReader(content), int64(len(content)), o)
	return file.Content{Place: file.Place{Name: name, Size: int64(len(content))}}, told(err)
}

// Open implements files.Storage. It reads no more bytes than were stored.
func (s *Storage) Open(ctx context.Context, c file.Content) ([]byte, error) {
	switch {
	case c.Place.Name == "":
		return c.Data, nil
	case !file.Valid(c.Place.Name):
		return nil, files.ErrName
	}
	ctx, end := context.WithTimeout(ctx, timeout)
	defer end()
	defer load.Away(ctx)() // pages show many pictures: other pages can be made while this one waits
	body, _, _, err := minio.Core{Client: s.client}.GetObject(ctx, s.Bucket, c.Place.Name, minio.GetObjectOptions{})
	if err != nil {
		return nil, told(err)
	}
	out, err := io.ReadAll(io.LimitReader(body, c.Place.Size+1))
	switch err = errors.Join(err, body.Close()); {
	case err != nil:
		return nil, told(err)
	case int64(len(out)) != c.Place.Size:
		return nil, files.ErrDamaged
	}
	return out, nil
}

// Drop implements files.Storage.
func (s *Storage) Drop(ctx context.Context, name string) error {
	if !file.Valid(name) {
		return files.ErrName
	}
	ctx, end := context.WithTimeout(ctx, timeout)
	defer end()
	err := told(s.client.RemoveObject(ctx, s.Bucket, name, minio.RemoveObjectOptions{}))
	if errors.Is(err, files.ErrAbsent) {
		return nil
	}
	return err
}

// Link implements files.Linker.
func (s *Storage) Link(ctx context.Context, p file.Place, mediaType string, life time.Duration) (string, error) {
	if !s.Links || !file.Valid(p.Name) {
		return "", nil
	}
	ctx, end := context.WithTimeout(ctx, timeout)
	defer end()
	u, err := s.client.PresignedGetObject(ctx, s.Bucket, p.Name, life, url.Values{"response-content-type": {mediaType}})
	if err != nil {
		return "", told(err)
	}
	return u.String(), nil
}

// Origin implements files.Linker.
func (s *Storage) Origin() string { return s.origin }

// told returns an error that may be shown: answers of the storage name keys and buckets.
func told(err error) error {
	switch {
	case err == nil:
		return nil
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return files.ErrAbsent
	}
	return files.Away(err)
}
