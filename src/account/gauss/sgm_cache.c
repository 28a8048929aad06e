#include "account/gauss/sgm_cache.h"

#include "base/alloc.h"

sotto_sgm_side *sotto_sgm_side_at(sotto_sgm *m, bool add, int level, int cap)
{
    for (unsigned i = 0; i < SOTTO_SGM_CUTS; i++)
        if (m->side[add][i].level == level && m->side[add][i].cap == cap)
            return &m->side[add][i];
    sotto_sgm_side *side = &m->side[add][m->next_side[add]++ % SOTTO_SGM_CUTS];
    sotto_sgm_side_clear(side);
    side->work = &m->work;
    side->level = level;
    side->cap = cap;
    side->law = sotto_sgm_law_cut(m->rate, m->sigma, add, 6.0 * level);
    if (cap != SOTTO_SGM_NO_CAP)
        sotto_sgm_law_cap(&side->law, sotto_sgm_c(cap));
    return side;
}

double sotto_sgm_c(int j)
{
    static const double quarter[4] = {1, 1.189207115002721, 1.4142135623730951, 1.681792830507429};

    return ldexp(quarter[((j % 4) + 4) % 4], (j - (((j % 4) + 4) % 4)) / 4);
}

static double cumulant_at(sotto_sgm_side *side, int j, double *error)
{
    /* Panels for the largest c of eight serve the smaller ones as well. */
    int top = j >= 0 ? j / 8 * 8 + 7 : -((-j - 1) / 8 * 8) - 1;
    sotto_sgm_real *real = NULL;

    if (side->law.q == 1)
        return sotto_sgm_cumulant(&side->law, sotto_sgm_c(j), error);
    for (unsigned i = 0; i < SOTTO_SGM_SLOTS && !real; i++)
        if (side->real[i] && side->real_j[i] == top)
            real = side->real[i];
    if (!real) {
        unsigned at = side->next_real++ % SOTTO_SGM_SLOTS;
        sotto_sgm_real_free(side->real[at]);
        real = side->real[at] = sotto_sgm_real_new(&side->law, sotto_sgm_c(top));
        side->real_j[at] = top;
    }
    return real ? sotto_sgm_real_cumulant(real, &side->law, sotto_sgm_c(j), error) : INFINITY;
}

double sotto_sgm_side_cumulant(sotto_sgm_side *side, int j)
{
    if (j < SOTTO_SGM_FIRST_C || j > SOTTO_SGM_LAST_C)
        return INFINITY;
    size_t at = (size_t)(j - SOTTO_SGM_FIRST_C);
    if (!side->known[at]) {
        double error = 0;
        side->cumulant[at] = cumulant_at(side, j, &error);
        side->cumulant[at] += error;
        side->known[at] = true;
    }
    return side->cumulant[at];
}

static const sotto_sgm_boxes *boxes_at(sotto_sgm_side *side, int j)
{
    for (unsigned i = 0; i < SOTTO_SGM_SLOTS; i++)
        if (side->boxes[i] && side->box_j[i] == j)
            return side->boxes[i];
    unsigned at = side->next_box++ % SOTTO_SGM_SLOTS;
    if (!side->boxes[at])
        side->boxes[at] = sotto_alloc(sizeof *side->boxes[at]);
    if (!side->boxes[at])
        return NULL;
    side->box_j[at] = j;
    sotto_sgm_boxes_fill(side->boxes[at], &side->law, sotto_sgm_c(j),
                         sotto_sgm_side_cumulant(side, j));
    return side->boxes[at];
}

double sotto_sgm_side_decay(sotto_sgm_side *side, int j, double t)
{
    if (side->law.q == 1)
        return -t * t / (2 * side->law.sigma * side->law.sigma) * (1 - 1e-12);
    const sotto_sgm_boxes *boxes = boxes_at(side, j);
    return boxes ? sotto_sgm_boxes_decay(boxes, t) : 0;
}

double sotto_sgm_side_decay_until(sotto_sgm_side *side, int j, double t, double until)
{
    if (side->law.q == 1)
        return sotto_sgm_side_decay(side, j, t);
    const sotto_sgm_boxes *boxes = boxes_at(side, j);
    return boxes ? sotto_sgm_boxes_decay_until(boxes, t, until) : 0;
}

static void line_clear(sotto_sgm_nodes *line)
{
    if (line->log_modulus)
        sotto_release(line->log_modulus, 3 * line->nodes * sizeof(double));
    *line = (sotto_sgm_nodes){0};
}

const sotto_sgm_nodes *sotto_sgm_side_line(sotto_sgm_side *side, int j, double step, size_t nodes)
{
    sotto_sgm_nodes *line = NULL;

    for (unsigned i = 0; i < SOTTO_SGM_SLOTS && !line; i++) {
        sotto_sgm_nodes *old = &side->lines[i];
        if (old->log_modulus && old->j == j && old->step == step) {
            if (old->nodes >= nodes)
                return old;
            line = old;
        }
    }
    if (!line)
        line = &side->lines[side->next_line++ % SOTTO_SGM_SLOTS];
    line_clear(line);
    double c = sotto_sgm_c(j);
    double *table = sotto_alloc(3 * nodes * sizeof(double));
    if (!table)
        return NULL;
    *line = (sotto_sgm_nodes){j, step, nodes, table, table + nodes, table + 2 * nodes};
    if (!sotto_sgm_line(&side->law, c, step, nodes, line->log_modulus, line->phase, line->error,
                        side->work)) {
        line_clear(line);
        return NULL;
    }
    return line;
}

const sotto_pld *sotto_sgm_side_lattice(sotto_sgm_side *side, int j, double spacing, size_t size)
{
    for (unsigned i = 0; i < SOTTO_SGM_SLOTS; i++) {
        const sotto_pld *old = side->lattices[i];
        if (old && old->c == sotto_sgm_c(j) && old->spacing == spacing && old->size == size)
            return old;
    }
    unsigned at = side->next_lattice++ % SOTTO_SGM_SLOTS;
    sotto_pld_free(side->lattices[at]);
    side->lattices[at] = sotto_pld_new(&side->law, sotto_sgm_c(j), spacing, size, side->work);
    return side->lattices[at];
}

void sotto_sgm_side_clear(sotto_sgm_side *side)
{
    for (unsigned i = 0; i < SOTTO_SGM_SLOTS; i++) {
        line_clear(&side->lines[i]);
        sotto_pld_free(side->lattices[i]);
        sotto_sgm_real_free(side->real[i]);
        sotto_release(side->boxes[i], sizeof *side->boxes[i]);
    }
    *side = (sotto_sgm_side){0};
}
