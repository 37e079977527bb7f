extension WorkerConfiguration {
    /// The settings of fleet control, which comprises the pauses and commands of operators, and the reports of workers.
    package struct Fleet: Sendable, Equatable {
        static let reportIntervalSecondsMax = 25

        /// The interval between two reports of the worker, from 1 to ``reportIntervalSecondsMax``.
        package var reportIntervalSeconds = 10
    }
}
