#include "analyse/receipt_parts.h"

#define say sotto_write_format

void sotto_receipt_say_apart(sotto_writer *w, const sotto_receipt *r)
{
    if (!r->relay && !r->attester)
        return;
    say(w, "  must not work together: ");
    if (r->relay)
        say(w, "the relay (%s) with the gateway (%s) or the leader (%s)%s", r->relay, r->gateway,
            r->leader, r->attester ? "; " : "");
    if (r->issuer)
        say(w, "attester (%s) or issuer (%s) with a server", r->attester, r->issuer);
    else if (r->attester)
        say(w, "attester (%s) with a server, which issues", r->attester);
    say(w, "\n");
}

void sotto_receipt_say_parts(sotto_writer *w, const sotto_receipt *r)
{
    if (r->relay)
        say(w, "  may know who took part: the relay, and a device's own network\n");
    else
        say(w, "  may know who took part: the leader, which sees the address of each report, and a "
               "device's own network\n");
    sotto_receipt_say_apart(w, r);
}
