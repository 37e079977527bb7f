/// Mistakes that a test asks for, to show that it would notice them. A worker has no way to.
package struct LaneDefects: Sendable {
    /// The delivery is acknowledged before its result is confirmed.
    package var acknowledgesBeforeConfirm = false
    /// Deliveries run without the preference for the lane's executor.
    package var leavesTheExecutor = false

    package init(acknowledgesBeforeConfirm: Bool = false, leavesTheExecutor: Bool = false) {
        self.acknowledgesBeforeConfirm = acknowledgesBeforeConfirm
        self.leavesTheExecutor = leavesTheExecutor
    }
}
