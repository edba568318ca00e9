package gatewaysim

import (
	"maps"
	"net/http"
	"slices"
)

const noOrg = "Org not found"

func listOrgKeys(c *controlCall) (int, any) {
	return http.StatusOK, map[string]any{"keys": slices.AppendSeq([]string{}, maps.Keys(c.store.orgKeys))}
}

func readOrgKey(c *controlCall) (int, any) {
	session, ok := c.store.orgKeys[c.PathValue("org")]
	if !ok {
		return failed(http.StatusNotFound, noOrg)
	}
	return http.StatusOK, withoutZeros(maps.Clone(session))
}

// putOrgKey stores the limits of an organisation.
func putOrgKey(c *controlCall) (int, any) {
	session, ok := decodeSession(c.body)
	if !ok {
		return failed(http.StatusInternalServerError, "Request malformed")
	}
	org, action := c.PathValue("org"), "added"
	if c.Method == http.MethodPut {
		action = "modified"
		if c.store.orgKeys[org] == nil {
			return failed(http.StatusNotFound, noOrg)
		}
	}
	c.store.orgKeys[org] = session
	return http.StatusOK, done{Key: org, Status: "ok", Action: action}
}

func deleteOrgKey(c *controlCall) (int, any) {
	org := c.PathValue("org")
	if _, ok := c.store.orgKeys[org]; !ok {
		return failed(http.StatusBadRequest, "Failed to remove the key")
	}
	delete(c.store.orgKeys, org)
	return http.StatusOK, done{Key: org, Status: "ok", Action: "deleted"}
}
