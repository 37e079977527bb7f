public import Crypto

/// A command with the keys of the rows and marks that it concerns. `BlindIndex` creates it, except `restore`.
public enum KeyedCommand: Sendable, Hashable {
    case register(NewRegistration, RegisterKeys)
    /// An `unregister` of a token, or a `prune`, which has a refusal. `at` is the time of the end.
    case endToken(TokenAddress, UUIDValue, at: Int64, APNSRefusal?)
    /// An `unregister` of a user or installation, or an `erase`.
    case endUser(UserEnd)
    case suspect(UUIDValue, APNSRefusal)
    /// An end from an export.
    case restore(StoredEnd)

    public struct RegisterKeys: Sendable, Hashable {
        /// The keyed hash of app, environment, kind, scope and token.
        public var token: UUIDValue
        /// The keyed hash of app and user.
        public var user: UUIDValue
        /// The keyed hash of app, environment, kind, scope and installation; nil if the registration names none.
        public var device: UUIDValue?
        public var scope: UUIDValue?
        /// The keys of the marks that may end the registration.
        public var marks: [UUIDValue]

        public init(
            token: UUIDValue, user: UUIDValue, device: UUIDValue?, scope: UUIDValue?, marks: [UUIDValue]
        ) {
            (self.token, self.user, self.device, self.scope, self.marks) = (token, user, device, scope, marks)
        }
    }

    public struct UserEnd: Sendable, Hashable {
        /// The keyed hashes of app and user, one for each app.
        public var users: [UUIDValue]
        public var mark: EndMark
        /// The installation whose registrations end; nil for all installations.
        public var deviceID: String?
        /// Whether the command is an `erase`, or restores the mark of one. Only then do events report the ended
        /// registrations.
        public var isErasure: Bool

        public init(users: [UUIDValue], mark: EndMark, deviceID: String?, isErasure: Bool) {
            (self.users, self.mark, self.deviceID, self.isErasure) = (users, mark, deviceID, isErasure)
        }

        public static func == (left: Self, right: Self) -> Bool {
            left.users == right.users && left.mark == right.mark && left.deviceID?.exact == right.deviceID?.exact
                && left.isErasure == right.isErasure
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(users)
            hasher.combine(mark)
            hasher.combine(deviceID?.exact)
            hasher.combine(isErasure)
        }
    }
}

/// The keys by which a store reads the rows and marks of a batch.
///
/// A store reads each row whose token, device or user is among the keys. The store serializes batches that share a key,
/// because locks on rows alone do not prevent two batches from inserting conflicting rows.
public struct TouchedKeys: Sendable, Hashable {
    public private(set) var tokens: Set<UUIDValue> = []
    public private(set) var devices: Set<UUIDValue> = []
    public private(set) var users: Set<UUIDValue> = []
    public private(set) var marks: Set<UUIDValue> = []

    public init(_ commands: some Sequence<KeyedCommand>) {
        for command in commands { insert(command) }
    }

    /// All keys, in ascending order.
    public var locks: [UUIDValue] { tokens.union(devices).union(users).union(marks).sorted() }

    /// Returns whether the commands concern the row.
    public func contain(_ row: Registration) -> Bool {
        tokens.contains(row.key.token) || row.deviceKey.map { devices.contains($0) } ?? false
            || row.details.map { users.contains($0.userKey) } ?? false
    }

    private mutating func insert(_ command: KeyedCommand) {
        switch command {
        case .register(_, let keys):
            tokens.insert(keys.token)
            users.insert(keys.user)
            if let device = keys.device { devices.insert(device) }
            marks.formUnion(keys.marks)
        case .endToken(_, let token, _, _), .suspect(let token, _): tokens.insert(token)
        case .endUser(let end):
            users.formUnion(end.users)
            marks.insert(end.mark.key)
        case .restore(.tombstone(let row)):
            tokens.insert(row.key.token)
            if let device = row.deviceKey { devices.insert(device) }
        case .restore(.mark(let mark)):
            users.insert(mark.key)
            marks.insert(mark.key)
        }
    }
}
