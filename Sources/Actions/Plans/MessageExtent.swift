import Text

/// The number of messages that an action concerns.
package struct MessageExtent: Sendable, Hashable {
    package var count: Int
    /// Whether the count is only an upper limit.
    package var isAtMost: Bool
    /// The number of chosen messages that stay, because a worker would refuse them again.
    package var invalid: Int
    /// The number of chosen messages that stay for another reason, such as an unknown request queue.
    package var unsendable: Int

    package init(count: Int = 0, isAtMost: Bool = false, invalid: Int = 0, unsendable: Int = 0) {
        (self.count, self.isAtMost, self.invalid, self.unsendable) = (count, isAtMost, invalid, unsendable)
    }

    /// Returns the count in words.
    func counted(_ noun: String) -> String { (isAtMost ? "at most " : "") + count.counted(noun) }
}
