"""The rules: one small class for each sign of a failed run, with its prior weight in the risk ranking.

The priors' source: the published ColorBrowserAgent runs (1,337 with steps; 519 failed) were counted rule by rule
elsewhere; a rule that hits a share p of the failed and q of the passed runs is worth ``ln(p / q)``:

    step limit                127 of 519 failed,  4 of 818 passed   3.9
    run error                  21                 0                 4.2 (with half a run added to each count)
    same action five times    143                38                 1.8
    same action three in a row 31                12                 1.4
    A-B-A-B of addresses       75                42                 1.0
    page unchanged             42                35                 0.6
    three action errors       262               244                 0.5
    none of these             142               455                -0.7, on top of a base rate of -0.5

Rules that fire together share that evidence (all loops of one run together: 80 % right), so each but the endings gets
a third to two thirds of it. Detectors that were not counted there (left the sites, login wall, gave up, empty answer,
error page, unreadable output) are set by judgement, and so are those that ask a model: an ending that can't score
counts like a step limit, a hindrance that agents often overcome counts little.

Three were set by counting again on 378 published runs (150 failed), with the answers of state tasks masked: there an
agent only gives an answer where the environment has not ended the run as a success, so that answering at all reveals
the outcome (14 of 15 such runs failed that were flagged as given up). Of the rest:

    gave up                     6 of 11 failed   0.2, instead of 1.2
    covered element            10 of 34          0.1, instead of 0.6
    page unchanged             17 of 27          0.6, instead of 0.1

Rules about targets, claims and demands fired on few of these runs, and those about names and quotes no oftener on
failed ones: they weigh nothing until verdicts say so. They tell a reviewer what to look at: a control that the reason
did not mean, a name or a quote that nothing in the run bears out. A target that the agent could not see weighs only
where it is acted on again and again, and a claim of a change that no action can have made is set by judgement: where an
environment ends a run on success such answers tell the outcome, so that nothing was counted there.
"""
