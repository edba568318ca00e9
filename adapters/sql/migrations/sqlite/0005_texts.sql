-- long texts are stored ahead of the unit of work that names them, in small transactions:
-- state 0 until a row names one, 1 while it does, 2 when none will any more
create table long_text (
  name  text    not null,
  state integer not null,
  at    integer not null,
  size  integer not null,
  kind  text    not null,
  org   text    not null,
  id    text    not null,
  last  integer not null,
  constraint long_text_pk primary key (name)
);
create index long_text_record on long_text (kind, org, id) where kind <> '';
create index long_text_log on long_text (last) where last > 0;
create index long_text_free on long_text (state) where state <> 1;

-- and their parts
create table long_part (
  name text    not null,
  n    integer not null,
  body blob    not null,
  constraint long_part_pk primary key (name, n)
);
