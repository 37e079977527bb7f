import Crypto
import Registrations

/// The children that one delivery of a request to users publishes.
///
/// Pure. The expander appends the found devices, user by user.
struct FanoutChunk {
    static let childrenMax = 500
    static let bytesMax = 1 << 20
    /// The maximum number of owners that a child names. The second lookup of the child ignores further owners of its
    /// token.
    static let ownersMax = 8

    struct Child {
        /// The index in the audience of the first user who owns the device.
        let user: Int
        /// The indices of the other owners, at most ``ownersMax`` − 1; empty unless the device is shared.
        fileprivate(set) var otherOwners: [Int] = []
        let device: FoundDevice
        /// The cursor with which the expansion continues if this child is not published.
        let before: FanoutCursor
        /// Whether an earlier chunk may have a child for the device, because a user of that chunk may share the device.
        let mayRepeat: Bool

        fileprivate mutating func add(owner: Int) {
            guard (otherOwners.last ?? user) != owner, otherOwners.count < FanoutChunk.ownersMax - 1 else { return }
            otherOwners.append(owner)
        }
    }

    private let userCount: Int
    private let childrenMax: Int
    private let start: FanoutCursor
    private(set) var children: [Child] = []
    /// The cursor after the devices that were appended.
    private(set) var end: FanoutCursor
    private(set) var isFull = false
    /// The indices of the children by the `token_key` of their device. Only used for several users.
    private var indices: [UUIDValue: Int] = [:]

    /// Creates an empty chunk.
    ///
    /// - Parameters:
    ///   - userCount: The number of users in the audience.
    ///   - childBytes: The approximate size of a child in bytes.
    init(from start: FanoutCursor, userCount: Int, childBytes: Int) {
        (self.start, end) = (start, start)
        self.userCount = userCount
        childrenMax = max(1, min(Self.childrenMax, Self.bytesMax / max(1, childBytes)))
    }

    /// Whether the devices of all users of the audience were appended.
    var isLast: Bool { end.user >= userCount }

    /// Whether the chunk needs no further devices.
    var isComplete: Bool { isFull || isLast }

    /// The indices of the users whose devices are looked up next.
    var nextUsers: Range<Int> {
        let first = min(end.user, userCount)
        return first..<min(first + DeviceLookup.queriesMax, userCount)
    }

    /// Appends the children of the next user, until the chunk is full. Skips devices up to the cursor. A device that
    /// has a child in this chunk gets no other child. The user becomes one of its owners, up to ``ownersMax``.
    ///
    /// - Parameter devices: All devices of the user, in the order of their keys.
    mutating func append(_ devices: [FoundDevice]) {
        guard !isComplete else { return }
        let hadDevice = end.key != nil || !devices.isEmpty
        let last = end.key
        for device in devices where last.map({ device.key > $0 }) ?? true {
            if let index = index(of: device.key.token) {
                children[index].add(owner: end.user)
            } else {
                guard children.count < childrenMax else {
                    isFull = true
                    return
                }
                if userCount > 1 { indices[device.key.token] = children.count }
                children.append(
                    Child(user: end.user, device: device, before: end, mayRepeat: mayRepeat(device)))
                end.deviceCount += 1
                if device.isShared { end.sharedTokens.insert(device.key.token) }
            }
            end.key = device.key
        }
        end.user += 1
        end.key = nil
        if !hadDevice { end.usersWithoutDevice += 1 }
    }

    /// Returns the index of the child for a token. The devices of one user are in the order of their tokens.
    private func index(of token: UUIDValue) -> Int? {
        guard userCount == 1 else { return indices[token] }
        return children.last?.device.key.token == token ? children.count - 1 : nil
    }

    /// Returns whether an earlier chunk may have a child for a device of the next user. Of two registrations of a
    /// token, at least one is shared. An earlier chunk can end within the devices of its first user.
    private func mayRepeat(_ device: FoundDevice) -> Bool {
        start.deviceCount > 0 && end.user > 0
            && (device.isShared || start.sharedTokens.mayContain(device.key.token))
    }
}

extension FoundDevice {
    fileprivate var isShared: Bool { key.slot != Registration.Key.unshared }
}
