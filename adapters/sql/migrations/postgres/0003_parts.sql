-- texts that are too long for one row are kept in parts; the row says how many there are

-- documents of records
create table record_part (
  kind text    collate "C" not null,
  org  text    collate "C" not null,
  id   text    collate "C" not null,
  n    integer not null,
  body bytea   not null,
  constraint record_part_pk primary key (kind, org, id, n)
);
alter table record_part alter column body set storage external;

-- bodies of the change log
create table log_part (
  last bigint  not null,
  n    integer not null,
  body bytea   not null,
  constraint log_part_pk primary key (last, n)
);
alter table log_part alter column body set storage external;
