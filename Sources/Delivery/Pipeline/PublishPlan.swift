/// The messages that a settlement still has to publish. The order of the bits is the order of the publishes.
///
/// When the plan is empty, the delivery is acknowledged, rejected or requeued.
struct PublishPlan: OptionSet {
    let rawValue: UInt8

    /// The command about a device token that APNs refused. The command precedes the result, so that a crash between the
    /// two publishes cannot lose the command.
    static let registration = PublishPlan(rawValue: 1 << 0)
    static let deadLetter = PublishPlan(rawValue: 1 << 1)
    static let result = PublishPlan(rawValue: 1 << 2)
    /// The request, republished to a wait queue.
    static let wait = PublishPlan(rawValue: 1 << 3)
    /// The request, republished to the quarantine.
    static let quarantine = PublishPlan(rawValue: 1 << 4)
    /// The report of a request to users.
    static let report = PublishPlan(rawValue: 1 << 5)
    /// A request to users, republished to its queue.
    static let again = PublishPlan(rawValue: 1 << 6)

    /// The next publish; empty if no publish remains.
    var first: PublishPlan { PublishPlan(rawValue: rawValue & (0 &- rawValue)) }

    mutating func removeFirst() { self = PublishPlan(rawValue: rawValue & (rawValue &- 1)) }
}
