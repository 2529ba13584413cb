"""The same work over many processes or machines, by engines that exist: joblib on one machine, Dask on many.

    ordered_map     a function over batches, on the processes of one machine or any backend of joblib: order kept
    run_job         files to Parquet files on a Dask cluster: what was done is skipped, what fails is set aside

Both send short descriptions of a labeller (`LabellerSpec`), never models: a worker loads the model file once.
"""

from espalier.cluster.job import Job, Settings, read_settings
from espalier.cluster.labeller import LabellerSpec, RowLabeller, labeller_of
from espalier.cluster.plan import Partition, plan
from espalier.cluster.processes import ordered_map
from espalier.cluster.run import FailedPartition, RunReport, check_job, run_job

__all__ = [
    "FailedPartition",
    "Job",
    "LabellerSpec",
    "Partition",
    "RowLabeller",
    "RunReport",
    "Settings",
    "check_job",
    "labeller_of",
    "ordered_map",
    "plan",
    "read_settings",
    "run_job",
]
