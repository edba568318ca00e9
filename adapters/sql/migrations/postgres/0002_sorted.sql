-- values by which lists are ordered, within one organisation
alter table record_key add column sorted integer not null default 0;
create index record_key_sorted on record_key (kind, name, org, value, id) where sorted = 1;
