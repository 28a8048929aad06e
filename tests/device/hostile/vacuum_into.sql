-- refused
VACUUM INTO 'copy.db'
