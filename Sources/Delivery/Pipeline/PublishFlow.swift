/// Whether the lane can publish. While it cannot, its deliveries are parked: it could not publish their outcomes.
///
/// Pure. `flowing` becomes `stuck` with the first message that was published in vain too often, and `flowing` again when
/// the last of them was confirmed or given up.
enum PublishFlow {
    case flowing
    case stuck(Stuck)

    struct Stuck {
        /// The failure of the first message, for operators.
        let reason: String
        /// Messages that were published in vain too often.
        fileprivate(set) var messages = 1
        fileprivate(set) var parked: [DeliveryRecord] = []
    }

    var isStuck: Bool {
        if case .stuck = self { true } else { false }
    }

    /// Why nothing can be published; nil while messages flow.
    var failure: String? {
        if case .stuck(let stuck) = self { stuck.reason } else { nil }
    }

    /// Another message is stuck. Returns whether it is the first.
    mutating func stick(_ reason: @autoclosure () -> String) -> Bool {
        guard case .stuck(var stuck) = self else {
            self = .stuck(Stuck(reason: reason()))
            return true
        }
        stuck.messages += 1
        self = .stuck(stuck)
        return false
    }

    /// A stuck message was confirmed or given up. Returns the parked records if it was the last.
    mutating func unstick() -> [DeliveryRecord]? {
        guard case .stuck(var stuck) = self else { return nil }
        stuck.messages -= 1
        self = stuck.messages == 0 ? .flowing : .stuck(stuck)
        return stuck.messages == 0 ? stuck.parked : nil
    }

    /// Parks a record, while the flow is stuck.
    mutating func park(_ record: DeliveryRecord) {
        guard case .stuck(var stuck) = self else { preconditionFailure("nothing is stuck") }
        // The other owner of the array would have it copied.
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
