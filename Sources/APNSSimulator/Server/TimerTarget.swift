/// What timers do their work on, for as long as that lives. Its owner is the object itself, which lets go of it at its end.
///
/// A weak reference would do the same, but the first one moves an object's reference counts into a table of their own, and
/// all retains and releases from then on cost several times as much: 4 % of a request's instructions.
final class TimerTarget<Object: AnyObject> {
    /// nil once it is gone.
    unowned var object: Object?
}
