import EventLoop
import Registrations
import TestKit

enum SimulatedStoreFault: Hashable {
    case unreachable
    /// A store that takes this time for each call, in milliseconds.
    case slow(Int)
    case refusing
    case schemaTooNew
    case diskFull
    /// A store that commits changes, and loses the answers.
    case answersLost
    /// The loss of all connections. The new primary accepts connections later.
    case failover
    /// A standby, which answers lookups and refuses changes.
    case standby

    /// The fault of all calls; nil if lookups continue.
    var outage: StoreFault? {
        switch self {
        case .unreachable, .failover: StoreFault(.unreachable, "the server is away")
        case .refusing: StoreFault(.refused, "the login is refused", errorClass: "28")
        case .schemaTooNew: StoreFault(.schema, "the schema is newer than the worker")
        case .slow, .diskFull, .answersLost, .standby: nil
        }
    }

    /// The fault of changes only.
    var changeFault: StoreFault? {
        switch self {
        case .diskFull: StoreFault(.refused, "the disk is full", errorClass: "53")
        case .standby: StoreFault(.unreachable, "the server is a standby", errorClass: "25")
        case .unreachable, .slow, .refusing, .schemaTooNew, .answersLost, .failover: nil
        }
    }

    var latency: Duration {
        if case .slow(let milliseconds) = self { .milliseconds(milliseconds) } else { .milliseconds(1) }
    }
}

extension SimulatedStore {
    /// Applies the faults, which may overlap.
    func apply(_ faults: [SimulatedStoreFault]) {
        changeFault = faults.lazy.compactMap(\.changeFault).first
        latency = faults.map(\.latency).max() ?? .milliseconds(1)
        losesAnswers = faults.contains(.answersLost)
        fault = faults.lazy.compactMap(\.outage).first
    }
}
