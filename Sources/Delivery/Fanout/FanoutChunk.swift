import Crypto
import Registrations

/// The children that one delivery of a request to users publishes.
///
/// Pure. The expander appends the found devices, user by user.
struct FanoutChunk {
    static let childrenMax = 500
    static let bytesMax = 1 << 20

    struct Child {
        /// The index of the user in the audience.
        let user: Int
        let device: FoundDevice
        /// The cursor with which the expansion continues if this child is not published.
        let before: FanoutCursor
    }

    private let userCount: Int
    private let childrenMax: Int
    private(set) var children: [Child] = []
    /// The cursor after the devices that were appended.
    private(set) var end: FanoutCursor
    private(set) var isFull = false
    private var tokens: Set<UUIDValue> = []

    /// Creates an empty chunk.
    ///
    /// - Parameters:
    ///   - userCount: The number of users in the audience.
    ///   - childBytes: The approximate size of a child in bytes.
    init(from start: FanoutCursor, userCount: Int, childBytes: Int) {
        end = start
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

    /// Appends the children of the next user, until the chunk is full. Skips devices up to the cursor, and tokens that
    /// have a child in this chunk.
    ///
    /// - Parameter devices: All devices of the user, in the order of their keys.
    mutating func append(_ devices: [FoundDevice]) {
        guard !isComplete else { return }
        let hadDevice = end.key != nil || !devices.isEmpty
        let last = end.key
        for device in devices where last.map({ device.key > $0 }) ?? true {
            guard children.count < childrenMax else {
                isFull = true
                return
            }
            if tokens.insert(device.key.token).inserted {
                children.append(Child(user: end.user, device: device, before: end))
                end.deviceCount += 1
            }
            end.key = device.key
        }
        end.user += 1
        end.key = nil
        if !hadDevice { end.usersWithoutDevice += 1 }
    }
}
