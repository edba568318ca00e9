-- texts that are too long for one row are kept in parts; the row says how many there are

-- documents of records
create table record_part (
  kind text    not null,
  org  text    not null,
  id   text    not null,
  n    integer not null,
  body blob    not null,
  constraint record_part_pk primary key (kind, org, id, n)
);

-- bodies of the change log
create table log_part (
  last integer not null,
  n    integer not null,
  body blob    not null,
  constraint log_part_pk primary key (last, n)
);
