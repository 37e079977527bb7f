/// The ability of a lane to publish. While the lane cannot publish, it parks its deliveries, since it could not publish
/// their outcomes.
///
/// Pure. `flowing` becomes `stuck` when the first message exceeds the limit of repeated publishes. `stuck` becomes
/// `flowing` when the last stuck message was confirmed or given up.
enum PublishFlow {
    case flowing
    case stuck(Stuck)

    struct Stuck {
        /// The failure of the first message, for operators.
        let reason: String
        /// The number of stuck messages: unconfirmed messages that exceeded the limit of repeated publishes.
        fileprivate(set) var messages = 1
        fileprivate(set) var parked: [DeliveryRecord] = []
    }

    var isStuck: Bool {
        if case .stuck = self { true } else { false }
    }

    /// The reason why the lane cannot publish; nil while messages flow.
    var failure: String? {
        if case .stuck(let stuck) = self { stuck.reason } else { nil }
    }

    /// Counts a stuck message. Returns true for the first stuck message, which makes the flow stuck.
    mutating func stick(_ reason: @autoclosure () -> String) -> Bool {
        guard case .stuck(var stuck) = self else {
            self = .stuck(Stuck(reason: reason()))
            return true
        }
        stuck.messages += 1
        self = .stuck(stuck)
        return false
    }

    /// Removes a stuck message, which was confirmed or given up. Returns the parked records if the message was the last
    /// stuck message; nil otherwise.
    mutating func unstick() -> [DeliveryRecord]? {
        guard case .stuck(var stuck) = self else { return nil }
        stuck.messages -= 1
        self = stuck.messages == 0 ? .flowing : .stuck(stuck)
        return stuck.messages == 0 ? stuck.parked : nil
    }

    /// Parks a record. The flow must be stuck.
    mutating func park(_ record: DeliveryRecord) {
        guard case .stuck(var stuck) = self else { preconditionFailure("record parked while messages flow") }
        // Release the other reference to the array, which would force a copy.
        self = .flowing
        stuck.parked.append(record)
        self = .stuck(stuck)
    }

    mutating func takeParked() -> [DeliveryRecord] {
        guard case .stuck(var stuck) = self else { return [] }
        let parked = stuck.parked
        stuck.parked = []
        self = .stuck(stuck)
        return parked
    }
}
