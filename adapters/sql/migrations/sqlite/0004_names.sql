-- texts in parts have names of their own, for which their parts are encrypted: parts
-- that a program writes which knows no names have none
select 1;
