-- hints tell the last revision: a process need not look for what it has committed itself
create or replace function gatehouse_hint() returns trigger language plpgsql as $$
begin
  perform pg_notify('gatehouse_commit', (select max(last) from news)::text);
  return null;
end $$;
drop trigger change_log_hint on change_log;
create trigger change_log_hint after insert on change_log referencing new table as news for each statement execute function gatehouse_hint();
