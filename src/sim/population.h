/* sim/population.h - a round of encrypted sums with many more devices than machines fit.
 *
 * The server and the members of the committee are participants of the simulated network, with all its faults. Devices are made when they
 * speak, and forgotten.
 *
 * Callers:  tests and benchmarks.
 * Memory:   all of it from the arena given to new. 10^4 contributions of 64 KiB are there three times: on their way, stored, and in the
 *           server's machine.
 *
 * Time is virtual. Devices read the board together, through one view: each of them would come to the same. What they send is made by the
 * machine's own functions, signed with their own keys, and meets the network's faults: it is lost, late, overtaken, or comes twice. A
 * device that crashes speaks later, or twice.
 */
#ifndef SOTTO_SIM_POPULATION_H
#define SOTTO_SIM_POPULATION_H

#include "sim/net.h"

typedef struct sotto_sim_population_plan {
    uint32_t devices;
    double rate;     /* at which they contribute                                */
    uint32_t one_in; /* of so many devices one checks leaves                    */
    uint8_t checks;  /* of each leaf, if every device checked                   */
    uint32_t committee, threshold, noise, missing, liars, length;
    uint64_t seed;
    sotto_sim_faults faults;
    uint64_t memory; /* ceiling of the server's machine */
} sotto_sim_population_plan;

typedef struct sotto_sim_population_report {
    sotto_sim_report net;
    uint64_t drawn, noise;           /* devices that contribute, and that give noise           */
    uint64_t asked, answered, wrong; /* questions, answers, and leaves that were found wrong */
    uint64_t challenges;             /* questions that were asked again on the board         */
    bool is_exact; /* the sum is that of the contributions that were counted       */
} sotto_sim_population_report;

typedef struct sotto_sim_population sotto_sim_population;

/* Makes keys for all devices, which takes longest. */
SOTTO_MUST_USE sotto_status sotto_sim_population_new(sotto_sim_population **out,
                                                     const sotto_sim_population_plan *plan,
                                                     sotto_arena *arena, sotto_err *err);
void sotto_sim_population_free(sotto_sim_population *population);
/* The server and the committee: for crashes and liars. */
sotto_sim_net *sotto_sim_population_net(sotto_sim_population *population);
/* The whole round. */
SOTTO_MUST_USE sotto_status sotto_sim_population_run(sotto_sim_population *population,
                                                     sotto_sim_population_report *report,
                                                     sotto_err *err);

#endif
