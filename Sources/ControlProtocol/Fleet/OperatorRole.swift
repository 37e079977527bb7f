/// The rights of an operator in a console. A higher role includes the rights of the lower ones.
package enum OperatorRole: String, Sendable, CaseIterable, Comparable {
    /// Sees everything except masked texts of requests, and changes nothing.
    case view
    /// Pauses and resumes scopes, probes, and publishes test requests.
    case operate
    /// Also pauses the whole fleet.
    case admin

    private var rank: Int {
        switch self {
        case .view: 0
        case .operate: 1
        case .admin: 2
        }
    }

    package static func < (left: OperatorRole, right: OperatorRole) -> Bool { left.rank < right.rank }
}
