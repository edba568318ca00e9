-- every kind of resource; doc is the document verbatim, meta its keys and references
create table record (
  kind text    not null,
  org  text    not null,
  id   text    not null,
  rev  integer not null,
  doc  text    not null,
  meta text    not null,
  constraint record_pk primary key (kind, org, id)
);
create index record_by_id on record (kind, id, org);

-- searchable values of records
create table record_key (
  kind  text    not null,
  name  text    not null,
  value text    not null,
  org   text    not null,
  id    text    not null,
  uniq  integer not null,
  constraint record_key_pk primary key (kind, name, value, org, id)
) without rowid;
create unique index record_key_uniq on record_key (kind, name, value, org) where uniq = 1;

-- references between records
create table record_ref (
  org     text not null,
  to_kind text not null,
  to_id   text not null,
  kind    text not null,
  id      text not null,
  constraint record_ref_pk primary key (org, to_kind, to_id, kind, id)
) without rowid;

-- what every commit did: feed, history and audit. One row holds the commits that
-- shared a transaction, "first" to "last"
create table change_log (
  last  integer not null constraint change_log_pk primary key,
  first integer not null,
  at    integer not null,
  body  text    not null
);

-- when a record that is no more was deleted: where its history begins
create table gone (
  kind text not null,
  org  text not null,
  id   text not null,
  rev  integer not null,
  constraint gone_pk primary key (kind, org, id)
);
create index gone_by_id on gone (kind, id, org);

-- how far each sink has been told, and who tells it
create table cursor (
  sink   text    not null constraint cursor_pk primary key,
  rev    integer not null,
  holder text    not null,
  until  integer not null
) without rowid;
