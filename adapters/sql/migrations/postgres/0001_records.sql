-- every kind of resource; doc is the document verbatim, meta its keys and references
create table record (
  kind text   collate "C" not null,
  org  text   collate "C" not null,
  id   text   collate "C" not null,
  rev  bigint not null,
  doc  text   not null,
  meta text   not null,
  constraint record_pk primary key (kind, org, id)
);
create index record_by_id on record (kind, id, org);
-- compressing a large document takes longer than writing it
alter table record alter column doc set storage external;

-- searchable values of records
create table record_key (
  kind  text    collate "C" not null,
  name  text    collate "C" not null,
  value text    collate "C" not null,
  org   text    collate "C" not null,
  id    text    collate "C" not null,
  uniq  integer not null,
  constraint record_key_pk primary key (kind, name, value, org, id)
);
create unique index record_key_uniq on record_key (kind, name, value, org) where uniq = 1;

-- references between records
create table record_ref (
  org     text collate "C" not null,
  to_kind text collate "C" not null,
  to_id   text collate "C" not null,
  kind    text collate "C" not null,
  id      text collate "C" not null,
  constraint record_ref_pk primary key (org, to_kind, to_id, kind, id)
);

-- what every commit did: feed, history and audit. One row holds the commits that
-- shared a transaction, "first" to "last"
create table change_log (
  last  bigint not null constraint change_log_pk primary key,
  first bigint not null,
  at    bigint not null,
  body  text    not null
);
alter table change_log alter column body set storage external;

-- when a record that is no more was deleted: where its history begins
create table gone (
  kind text collate "C" not null,
  org  text collate "C" not null,
  id   text collate "C" not null,
  rev  bigint not null,
  constraint gone_pk primary key (kind, org, id)
);
create index gone_by_id on gone (kind, id, org);

-- a hint for followers; losing it costs them one poll
create function gatehouse_hint() returns trigger language plpgsql as $$
begin
  perform pg_notify('gatehouse_commit', '');
  return null;
end $$;
create trigger change_log_hint after insert on change_log for each statement execute function gatehouse_hint();

-- how far each sink has been told, and who tells it
create table cursor (
  sink   text   not null constraint cursor_pk primary key,
  rev    bigint not null,
  holder text   not null,
  until  bigint not null
);

-- gateway nodes as heard of lately; nothing here needs to survive a crash
create unlogged table node (
  id     text   not null,
  source text   not null,
  seen   bigint not null,
  doc    text   not null,
  constraint node_pk primary key (id, source)
);
