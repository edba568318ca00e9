package pages

import (
	"github.com/gatehouse-io/gatehouse/core/portal/page"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Listed is a page in lists.
type Listed struct {
	ID                  table.ID `json:"ID"`
	CID                 string   `json:"CID"`
	Title               string   `json:"Title"`
	Path                string   `json:"Path"`
	Status              string   `json:"Status"`
	Template            string   `json:"Template"`
	AllowFormSubmission bool     `json:"AllowFormSubmission"`
	PageTypeID          int64    `json:"PageTypeID"`
}

func listed(p page.Page) Listed {
	return Listed{p.ID, p.CID, p.Title, p.Path, p.Status, p.Template, p.AllowFormSubmission, p.PageTypeID}
}

// Shown is the full representation of a page.
type Shown struct {
	Listed
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

// ListedBlock is a block in lists.
type ListedBlock struct {
	ID              table.ID `json:"ID"`
	CID             string   `json:"CID"`
	PageID          table.ID `json:"PageID"`
	Name            string   `json:"Name"`
	Content         string   `json:"Content"`
	MarkdownContent string   `json:"MarkdownContent"`
	MarkdownEnabled bool     `json:"MarkdownEnabled"`
}

func listedBlock(b page.Block) ListedBlock {
	return ListedBlock{b.ID, b.CID, b.PageID, b.Name, b.Content, b.MarkdownContent, b.MarkdownEnabled}
}

// ShownBlock is the full representation of a block.
type ShownBlock struct {
	ListedBlock
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}
