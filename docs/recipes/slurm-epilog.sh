#!/bin/sh
# Collects the traces of a job that has ended into one folder of tables: a line of an EpilogSlurmctld, or of a job's own
# end. A trace is what lies in $IOSTRATA_TRACES/<job id>; the tables are in $IOSTRATA_RUNS and are read by
# `iostrata report`, `diff`, `assess` and any tool that knows Parquet.
#
# An epilog must neither fail nor last: it gives up after $IOSTRATA_SECONDS and always ends with 0.
set -u
traces=${IOSTRATA_TRACES:-/scratch/iostrata/traces}/${SLURM_JOB_ID:?no Slurm job}
runs=${IOSTRATA_RUNS:-/scratch/iostrata/runs}
log=${IOSTRATA_LOG:-/dev/null}
[ -d "$traces" ] || exit 0
# One writer at a time: a second one would be refused.
(
    flock -w "${IOSTRATA_SECONDS:-600}" 9 || exit 0
    timeout "${IOSTRATA_SECONDS:-600}" nice iostrata collect "$traces" -o "$runs" --workers 1 --json
) 9>"$runs.lock" >>"$log" 2>&1
exit 0
