-- denied: printf
SELECT printf('%.*c', 1000000000, 'x')
