package live_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestMembers states what an admin of an organisation may do with its people.
func TestMembers(t *testing.T) {
	w := open(t, nil)
	w.run()
	w.must("portal-organisations.create", nil, nil, `{"Name":"Acme"}`)
	boss, ada := w.developer("boss@example.com", account.ConsumerAdmin, 2), w.developer("ada@example.com", account.Member, 2)
	stranger := w.developer("stranger@example.com", account.ConsumerAdmin, 1)
	named := func(id int) map[string]string { return map[string]string{"user_id": fmt.Sprint(id)} }
	w.must("portal-live.user", ada, named(2), "")
	w.refused("portal-live.update-user", ada, named(2), `{"First":"X"}`, live.CodeMember)
	w.refused("portal-live.remove-user", ada, named(2), "", live.CodeMember)
	w.refused("portal-live.invite", ada, nil, `{"Email":"x@example.com","First":"X"}`, live.CodeMember)
	w.refused("portal-live.invite", stranger, nil, `{"Email":"x@example.com","First":"X"}`, live.CodeMember)
	w.refused("portal-live.invite", boss, nil, `{"Email":"x@example.com","First":"X","Role":"super-admin"}`, live.CodeMember)
	for _, body := range []string{`{"Role":"super-admin"}`, `{"Teams":[1]}`, `{"First":""}`} {
		if _, err := w.call("portal-live.update-user", boss, named(3), body); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", body, err)
		}
	}
	w.refused("portal-live.update-user", boss, named(2), `{"Role":"consumer-team-member"}`, live.CodeLast)
	w.must("portal-live.update-user", boss, named(2), `{"Last":"Boss","Role":"consumer-admin"}`)
	w.must("portal-live.update-user", boss, named(3), `{"First":"Augusta","Role":"consumer-admin","OrganisationID":1,"Active":false,"Email":"stolen@example.com"}`)
	if u := w.user("ada@example.com"); u.First != "Augusta" || u.Role != account.ConsumerAdmin || u.OrganisationID != 2 || !u.Active {
		t.Errorf("%+v", u)
	}
	w.must("portal-live.update-user", boss, named(2), `{"Role":"consumer-team-member"}`)
	w.must("portal-live.update-user", ada, named(2), `{"Role":"consumer-admin"}`)
	w.must("portal-live.invite", boss, nil, `{"Email":"new@example.com","First":"N","OrganisationID":1,"Teams":[2],"Provider":"elsewhere","ResetPassword":true,"Password":"chosen-by-boss"}`)
	if u := w.user("new@example.com"); u.OrganisationID != 2 || u.Active || u.Provider != account.OwnPassword || u.ResetPassword || u.PasswordHash != "" {
		t.Errorf("%+v", u)
	}
	w.must("portal-invitations.create", nil, nil, `{"Email":"elsewhere@example.com","First":"E"}`)
	w.letter(2)
	letters := len(w.letters)
	w.refused("portal-live.invite", boss, nil, `{"Email":"elsewhere@example.com","First":"X"}`, table.CodeInvalid)
	if len(w.letters) != letters {
		t.Error("somebody whom others have invited gets another mail")
	}
	var many error
	for range 50 {
		_, many = w.call("portal-live.invite", boss, nil, `{"Email":""}`)
	}
	if fault.KindOf(many) != fault.TooMany {
		t.Error("a user may invite without end:", many)
	}
	w.refused("portal-live.remove-user", boss, named(2), "", live.CodeMember)
	w.must("portal-live.remove-user", boss, named(3), "")
	if u := w.user("ada@example.com"); u.OrganisationID != 1 || u.Role != account.Member || !slices.Equal(w.sent, []string{"apps of 3 to 2"}) {
		t.Errorf("%+v %v", u, w.sent)
	}
	if _, err := w.call("portal-live.user", boss, named(3), ""); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// somebody is a person in the model.
type somebody struct {
	id, org int
	teams   []int
	role    string
	b       *browser
}

// sees is the visibility rule, implemented a second time.
func (p *somebody) sees(q *somebody) bool {
	if p == q {
		return true
	}
	for _, team := range p.teams {
		if p.org > 1 && p.org == q.org && slices.Contains(q.teams, team) {
			return true
		}
	}
	return false
}

// TestVisibility makes random changes of two organisations, their teams and their
// people, and after each compares what each person sees with the model.
func TestVisibility(t *testing.T) {
	w := open(t, nil)
	teams := map[int][]int{1: {1}}
	for i, name := range []string{"Acme", "Byte"} {
		w.must("portal-organisations.create", nil, nil, fmt.Sprintf(`{"Name":%q}`, name))
		teams[i+2] = []int{i + 2}
	}
	for i, org := range []int{2, 2, 3, 3} {
		w.must("portal-teams.create", nil, map[string]string{"organisation_id": fmt.Sprint(org)}, fmt.Sprintf(`{"Name":"Team %d"}`, i))
		teams[org] = append(teams[org], i+4)
	}
	var all []*somebody
	for i := range 6 {
		p := &somebody{id: i + 2, org: i%3 + 1, role: account.Member}
		if i >= 3 {
			p.role = account.ConsumerAdmin
		}
		p.teams = []int{teams[p.org][0]}
		p.b = w.developer(fmt.Sprintf("p%d@example.com", p.id), p.role, p.org)
		all = append(all, p)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		p := all[random.IntN(len(all))]
		path := map[string]string{"user_id": fmt.Sprint(p.id)}
		if random.IntN(2) == 0 {
			org := random.IntN(3) + 1
			if org != p.org {
				p.org, p.teams = org, []int{teams[org][0]}
			}
			w.must("portal-users.update", nil, path, fmt.Sprintf(`{"OrganisationID":%d}`, org))
		} else {
			team := teams[p.org][random.IntN(len(teams[p.org]))]
			p.teams = []int{team}
			w.must("portal-users.update", nil, path, fmt.Sprintf(`{"Teams":[%d]}`, team))
		}
		for _, p := range all {
			w.looks(p, all)
		}
	}
}

// looks compares what a person sees, and may change, with the model.
func (w *world) looks(p *somebody, all []*somebody) {
	w.t.Helper()
	list := w.must("portal-live.users", p.b, nil, "").(operation.Listing[live.Member])
	var have, want []string
	for _, m := range list.Items {
		have = append(have, m.ID.String())
	}
	for _, q := range all {
		path := map[string]string{"user_id": fmt.Sprint(q.id)}
		_, err := w.call("portal-live.user", p.b, path, "")
		_, changed := w.call("portal-live.update-user", p.b, path, `{}`)
		switch {
		case p.sees(q):
			want = append(want, fmt.Sprint(q.id))
			if err != nil || (changed == nil) != (p.role == account.ConsumerAdmin && p.org > 1) {
				w.t.Errorf("%+v looks at %+v: %v, %v", p, q, err, changed)
			}
		case fault.KindOf(err) != fault.NotFound || fault.KindOf(changed) != fault.NotFound:
			w.t.Errorf("%+v looks at %+v: %v, %v", p, q, err, changed)
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if strings.Join(have, " ") != strings.Join(want, " ") || list.Total != len(want) {
		w.t.Errorf("%+v sees %v, want %v", p, have, want)
	}
}
