-- long texts are stored ahead of the unit of work that names them, in small transactions:
-- state 0 until a row names one, 1 while it does, 2 when none will any more
create table long_text (
  name  text    collate "C" not null,
  state integer not null,
  at    bigint  not null,
  size  bigint  not null,
  kind  text    collate "C" not null,
  org   text    collate "C" not null,
  id    text    collate "C" not null,
  last  bigint  not null,
  constraint long_text_pk primary key (name)
);
create index long_text_record on long_text (kind, org, id) where kind <> '';
create index long_text_log on long_text (last) where last > 0;
create index long_text_free on long_text (state) where state <> 1;

-- and their parts
create table long_part (
  name text    collate "C" not null,
  n    integer not null,
  body bytea   not null,
  constraint long_part_pk primary key (name, n)
);
alter table long_part alter column body set storage external;
