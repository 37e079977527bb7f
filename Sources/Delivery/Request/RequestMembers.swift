import JSON

/// The members of a request that a worker reads, found in one pass.
struct RequestMembers: ~Copyable {
    enum Name: Int, CaseIterable {
        case id, app, environment, deviceToken, channelID, pushType, priority, expiration, collapseID, registeredAt
        case payload
        case user, users, scope

        fileprivate var text: StaticString {
            switch self {
            case .id: "id"
            case .app: "app"
            case .environment: "environment"
            case .deviceToken: "device_token"
            case .channelID: "channel_id"
            case .pushType: "push_type"
            case .priority: "priority"
            case .expiration: "expiration"
            case .collapseID: "collapse_id"
            case .registeredAt: "registered_at"
            case .payload: "payload"
            case .user: "user"
            case .users: "users"
            case .scope: "scope"
            }
        }
    }

    static let names = JSONNames(Name.allCases.map(\.text))

    private let found: JSONFoundMembers

    init(of root: JSONValue, _ names: JSONNames) { found = names.find(in: root) }

    /// The member with this name; nil if it is missing. The view is valid as long as this value exists and its parser
    /// reads no other text.
    subscript(_ name: Name) -> JSONNodeView? { found[name.rawValue] }

    var payload: JSONValue? { found.value(Name.payload.rawValue) }

    /// The object with these members.
    var request: JSONValue { found.object }

    /// Returns the range of a member in the body. The range extends from the first byte of the key to the last byte of
    /// the value. Returns nil if the member is missing.
    func range(of name: Name) -> Range<Int>? { found.memberRange(name.rawValue) }
}
