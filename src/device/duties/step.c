/* One step of a duty: its machine is restored, hears of time and mail, and is stored with all that it wants, before any of it leaves. */
#include "device/duties/inside.h"

#include "base/arena.h"
#include "base/rule.h"
#include "sotto/random.h"

#include <string.h>

sotto_self sotto_duties_self(sotto_duties *d, uint32_t index, unsigned part)
{
    return (sotto_self){.part = sotto_duties_part(part),
                        .index = index,
                        .keys = &d->signer,
                        .secrets = &d->secrets,
                        .no_noise = !(d->options.allowed & SOTTO_DUTY_NOISE)};
}

static sotto_status remember(sotto_duties *d, sotto_machine **out, const sotto_posted_round *p,
                             const sotto_journal_duty *duty, sotto_err *err)
{
    const sotto_machine_ops *ops = p->method->parts[sotto_duties_part(duty->part)];
    sotto_self self = sotto_duties_self(d, duty->index, duty->part);
    sotto_message *kept;
    size_t count;
    sotto_status status;

    if (duty->part == SOTTO_DUTY_DECRYPTOR && p->has_decryptors)
        SOTTO_TRY(sotto_journal_share(&d->journal, p->round.session, p->round.epoch,
                                      d->secrets.share, err));
    if (duty->part == SOTTO_DUTY_DECRYPTOR && sotto_method_entry(p->method))
        SOTTO_TRY(
            sotto_journal_carried(&d->journal, p->round.session, &self.carried, &d->memory, err));
    if (duty->state.len) {
        SOTTO_TRY(sotto_journal_kept(&d->journal, duty->n, &kept, &count, &d->memory, err));
        return ops->restore(out, &p->round, &self, duty->state, kept, count, &d->memory, err);
    }
    SOTTO_TRY(sotto_random_bytes(self.seed, sizeof self.seed, err));
    status = ops->join(out, &p->round, &self, &d->memory, err);
    sotto_wipe(self.seed, sizeof self.seed);
    return status;
}

/* The vector, if the machine wants it and there is one. */
static sotto_status offer(sotto_duties *d, const sotto_posted_round *p, sotto_machine *machine,
                          sotto_journal_duty *duty, sotto_effects *effects, sotto_err *err)
{
    if (!effects->wants_vector || duty->vector.len == 0 || duty->offered)
        return SOTTO_OK;
    sotto_vector *mine = sotto_arena_take(&d->memory, sizeof *mine);
    void *entries = sotto_arena_take(&d->memory, duty->vector.len + 1);

    if (!mine || !entries)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a vector");
    memcpy(entries, duty->vector.data, duty->vector.len);
    *mine = (sotto_vector){.ring = p->round.ring, .length = (size_t)p->round.length};
    if (mine->ring == SOTTO_RING_Z32)
        mine->of.z32 = entries;
    else
        mine->of.z64 = entries;
    SOTTO_TRY(machine->ops->offer(machine, mine, effects, err));
    duty->offered = true;
    return SOTTO_OK;
}

/* Time first: what came while this device was away does not look timely. */
static sotto_status step(sotto_duties *d, const sotto_posted_round *p, sotto_machine *machine,
                         sotto_journal_duty *duty, const sotto_duties_mail *mail, uint64_t now_ms,
                         sotto_effects *effects, sotto_err *err)
{
    const uint64_t before = sotto_duties_time(d, p, duty, mail, now_ms);

    SOTTO_TRY(machine->ops->tick(machine, before, effects, err));
    SOTTO_TRY(offer(d, p, machine, duty, effects, err));
    SOTTO_TRY(sotto_duties_read(p, machine, duty, mail, effects, &d->memory, err));
    /* What was read on the board may have opened the next phase, which has a time of its own. */
    const uint64_t after = sotto_duties_time(d, p, duty, mail, now_ms);
    if (mail->entries.len || after != before)
        SOTTO_TRY(machine->ops->tick(machine, after, effects, err));
    return offer(d, p, machine, duty, effects, err);
}

/* A poll that brought nothing costs no write. */
static bool is_news(const sotto_posted_round *p, const sotto_journal_duty *duty,
                    const sotto_journal_duty *before, const sotto_effects *e, sotto_bytes state)
{
    return duty->state.len == 0 || e->sent || e->kept || e->vows || e->done || e->carries ||
           duty->since != before->since || duty->board != before->board ||
           (sotto_method_entry(p->method) &&
            (e->wake != duty->wake || !sotto_bytes_equal_vartime(state, duty->state)));
}

sotto_status sotto_duties_run(sotto_duties *d, const sotto_posted_round *p,
                              sotto_journal_duty *duty, const sotto_duties_mail *mail,
                              uint64_t now_ms, sotto_effects *effects, sotto_err *err)
{
    const sotto_journal_duty before = *duty;
    sotto_machine *machine = NULL;
    sotto_buf state = {0};
    sotto_status status = remember(d, &machine, p, duty, err);

    sotto_effects_init(effects, &d->memory);
    if (status == SOTTO_OK)
        status = step(d, p, machine, duty, mail, now_ms, effects, err);
    if (status == SOTTO_OK)
        status = sotto_buf_take(&state, &d->memory,
                                SOTTO_MACHINE_MOST_SAVED((size_t)p->round.registered), err);
    if (status == SOTTO_OK)
        status = machine->ops->save(machine, &state, err);
    if (status == SOTTO_OK && is_news(p, duty, &before, effects, sotto_buf_bytes(&state))) {
        status = sotto_journal_step(&d->journal, duty, &p->round, effects, sotto_buf_bytes(&state),
                                    &d->memory, err);
        duty->state = sotto_buf_bytes(&state);
        duty->vector.len = duty->offered ? 0 : duty->vector.len;
        duty->done = duty->done || effects->done;
        duty->wake = effects->wake;
    }
    if (machine)
        machine->ops->leave(machine);
    sotto_wipe(d->secrets.share, sizeof d->secrets.share);
    return status;
}

void sotto_duties_own(sotto_duties *d, const sotto_aero_account *own)
{
    d->options.own = own;
}

bool sotto_duties_is_for_good(sotto_status status)
{
    return status == SOTTO_DENIED || status == SOTTO_MISSING || status == SOTTO_MALFORMED ||
           status == SOTTO_REJECTED;
}

/* A server that spoils a member's duty would leave it with the share that it was to hand over. */
sotto_status sotto_duties_spoiled(sotto_duties *d, const sotto_journal_duty *duty,
                                  const sotto_round *round, sotto_status why)
{
    sotto_status erased = SOTTO_OK;

    if (SOTTO_RULE(duties_carried_spoiled) && duty->part == SOTTO_DUTY_DECRYPTOR)
        erased = sotto_journal_erase_carried(&d->journal, round, NULL);
    return erased == SOTTO_OK ? why : erased;
}
