package import Registrations

/// A change of an SQLite store that a command requests from the worker that uses the file. The file has one writer.
package struct StoreChange: Sendable, Hashable {
    package enum Work: Sendable, Hashable {
        /// Asks whether the worker writes to the file. Changes nothing.
        case probe
        /// Commands and then ends to apply as one transaction; together from 1 to ``CommandBatch/commandsMax``.
        case apply([RegistrationCommand], ends: [StoredEnd])
        /// A page of registrations to encrypt with a data key, which must be the active data key of the worker. The
        /// page begins after the key; nil for the first page.
        case rekey(to: DataKeySummary, after: Registration.Key?)
        /// A page of registrations to free from suspicions. The page begins after the key; nil for the first page.
        case unsuspend(app: String, after: Registration.Key?)
    }

    /// Maximum size of a change as JSON, in bytes.
    package static let bytesMax = (CommandBatch.commandsMax + 1) * ReceivedCommand.bytesMax

    /// The path of the file.
    package var path: String
    package var work: Work

    package init(path: String, _ work: Work) {
        (self.path, self.work) = (path, work)
    }
}

/// The response of a worker to a ``StoreChange``.
package enum StoreChangeResponse: Sendable, Hashable {
    /// The response to a probe by a worker that writes to the file.
    case confirmed
    /// The outcomes of the commands and then of the ends, in their orders. The bodies of the events are secrets.
    case applied([CommandOutcome])
    case edited(EditedPage)
    case failed(StoreFault)

    /// Creates the response for the result of a change.
    ///
    /// - Parameter response: The response for a successful change.
    package init<Value>(_ result: Result<Value, StoreFault>, _ response: (Value) -> Self) {
        switch result {
        case .success(let value): self = response(value)
        case .failure(let fault): self = .failed(fault)
        }
    }
}
