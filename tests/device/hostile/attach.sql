-- denied: ATTACH
ATTACH DATABASE 'ledger.db' AS other
