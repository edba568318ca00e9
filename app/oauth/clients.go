package oauth

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/oauthclient"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Shown is a client in the form of responses.
type Shown struct {
	ID          string       `json:"client_id"`
	Name        string       `json:"client_name"`
	DCR         Registration `json:"dcr_registration"`
	Description string       `json:"description"`
	Meta        *doc.Node    `json:"meta_data"`
	Policy      string       `json:"policy_id"`
	RedirectURI string       `json:"redirect_uri"`
	Secret      string       `json:"secret"`
}

// Registration is the form of clients that identity providers store. Clients of
// gateways have none.
type Registration struct {
	AccessToken string `json:"access_token"`
	ClientURI   string `json:"client_uri"`
	Provider    string `json:"provider"`
}

func shown(c gateway.Client) Shown {
	meta, name := oauthclient.Told(c.Meta)
	return Shown{ID: c.ID, Name: name, Description: c.Description, Meta: meta, Policy: c.Policy, RedirectURI: c.RedirectURI, Secret: c.Secret}
}

// ofAPI is the input of operations on the clients of an API.
type ofAPI struct {
	Scope tenant.Scope
	Who   operation.Principal
	API   string `path:"apiId" doc:"The api_id or the database ID of the API. An api_id takes precedence."`
}

func (in ofAPI) caller() caller { return caller{in.Scope, in.Who} }

// oneClient is the input of operations on one client.
type oneClient struct {
	ofAPI
	ID string `path:"clientId" doc:"ID of the client."`
}

type listIn struct {
	ofAPI
	operation.Paging
}

// List returns the clients of an API: all of them, unless the request asks for a page.
func (s *Service) List(ctx context.Context, in listIn) (operation.Page[Shown], error) {
	a, err := s.api(ctx, in.caller(), in.API, access.Read)
	if err != nil {
		return operation.Page[Shown]{}, err
	}
	list, err := s.Gateways.ListClients(ctx, in.Scope.Org(), a.APIID())
	if err != nil {
		return operation.Page[Shown]{}, answered(err)
	}
	all := make([]Shown, len(list))
	for i, c := range list {
		all[i] = shown(c)
	}
	if in.P == "" {
		in.P = "-1"
	}
	return operation.Slice(all, in.Paging, s.PageSize)
}

// Get returns one client.
func (s *Service) Get(ctx context.Context, in oneClient) (Shown, error) {
	name, err := s.named(ctx, in, access.Read)
	if err != nil {
		return Shown{}, err
	}
	c, err := s.Gateways.Client(ctx, in.Scope.Org(), name)
	return shown(c), answered(err)
}

// named returns the name by which gateways know a client.
func (s *Service) named(ctx context.Context, in oneClient, i access.Intent) (gateway.ClientName, error) {
	a, err := s.api(ctx, in.caller(), in.API, i)
	if err != nil {
		return gateway.ClientName{}, err
	}
	if !oauthclient.ValidID(in.ID) { // gateways cannot have such an ID, and it must not become part of another path
		return gateway.ClientName{}, missing
	}
	return gateway.ClientName{API: a.APIID(), ID: in.ID}, nil
}

type createIn struct {
	ofAPI
	Draft oauthclient.Draft `body:""`
}

// Create stores a client. It replaces the client that has the ID.
func (s *Service) Create(ctx context.Context, in createIn) (Shown, error) {
	a, err := s.api(ctx, in.caller(), in.API, access.Write)
	if err == nil {
		err = s.check(ctx, in.caller(), in.Draft)
	}
	if err != nil {
		return Shown{}, err
	}
	c := saving{Name: gateway.ClientName{API: a.APIID(), ID: in.Draft.ID}, Draft: &in.Draft, Secret: in.Draft.Secret}
	if c.Name.ID == "" {
		c.Name.ID, c.New = s.Secrets.NewKey(), true
	} else {
		_, err := s.Gateways.Client(ctx, in.Scope.Org(), c.Name)
		if err != nil && !errors.Is(err, gateway.ErrUnknown) {
			return Shown{}, answered(err)
		}
		c.Over = err == nil
	}
	if c.Secret == "" {
		c.Secret = s.newSecret()
	}
	err = s.save.Run(ctx, in.Scope, subject(c.Name), &c)
	return shown(c.out), answeredOf(a, err)
}

// check checks a draft against the rules, and that its policy exists.
func (s *Service) check(ctx context.Context, c caller, d oauthclient.Draft) error {
	if err := d.Check(s.Separator); err != nil {
		return err
	}
	return s.checkPolicy(ctx, c, d.Policy)
}

func (s *Service) saved(ctx context.Context, w caller, c saving) (Shown, error) {
	err := s.save.Run(ctx, w.Scope, subject(c.Name), &c)
	return shown(c.out), answered(err)
}

type replaceIn struct {
	oneClient
	Draft oauthclient.Draft `body:""`
}

// Replace changes all fields of a client except its ID and its secret.
func (s *Service) Replace(ctx context.Context, in replaceIn) (Shown, error) {
	name, err := s.named(ctx, in.oneClient, access.Write)
	if err != nil {
		return Shown{}, err
	}
	if in.Draft.ID != "" && in.Draft.ID != in.ID {
		return Shown{}, fault.New(fault.Invalid, oauthclient.CodeInvalid, "client_id cannot change: leave it out").At("client_id")
	}
	if err := s.check(ctx, in.caller(), in.Draft); err != nil {
		return Shown{}, err
	}
	in.Draft.Secret = ""
	return s.saved(ctx, in.caller(), saving{Name: name, Draft: &in.Draft, Exists: true})
}

// Rotate gives a client a new secret. The old one is invalid from then on.
func (s *Service) Rotate(ctx context.Context, in oneClient) (Shown, error) {
	name, err := s.named(ctx, in, access.Write)
	if err != nil {
		return Shown{}, err
	}
	return s.saved(ctx, in.caller(), saving{Name: name, Secret: s.newSecret(), Exists: true})
}

// Delete deletes a client. Its tokens remain valid until they expire.
func (s *Service) Delete(ctx context.Context, in oneClient) (operation.Receipt, error) {
	name, err := s.named(ctx, in, access.Delete)
	if err != nil {
		return operation.Receipt{}, err
	}
	err = s.drop.Run(ctx, in.Scope, subject(name), &removal{name})
	return operation.Receipt{Message: "OAuth client deleted successfully."}, answered(err)
}

// Tokens returns the tokens of a client that have not expired.
func (s *Service) Tokens(ctx context.Context, in oneClient) ([]gateway.ClientToken, error) {
	name, err := s.named(ctx, in, access.Read)
	if err != nil {
		return nil, err
	}
	org := in.Scope.Org()
	if _, err := s.Gateways.Client(ctx, org, name); err != nil {
		return nil, answered(err)
	}
	list, err := s.Gateways.ClientTokens(ctx, org, name)
	return append([]gateway.ClientToken{}, list...), answered(err)
}
