/// A descriptor that the loop watches.
final class DescriptorRegistration {
    let descriptor: Int32
    let slot: Int
    /// The number that distinguishes this watch from an earlier watch in the same slot. Events of the earlier watch may
    /// still be in the current batch.
    let generation: UInt32
    var events: UInt32
    let action: (UInt32) -> Void
    /// The action if the loop ends before the watch. The loop has ended the watch when the action is called.
    let abandoned: () -> Void

    init(
        descriptor: Int32, slot: Int, generation: UInt32, events: UInt32, action: @escaping (UInt32) -> Void,
        abandoned: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.slot = slot
        self.events = events
        self.action = action
        self.abandoned = abandoned
        self.generation = generation
    }

    /// The data that the kernel returns with each event.
    var key: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
