-- refused
SELECT pgsize FROM dbstat
