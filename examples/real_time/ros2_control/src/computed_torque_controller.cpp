// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computed torque as a controller of ros2_control: positions and velocities in, efforts out. What it
// follows comes on ~/reference, one point at a time; before the first one it holds where it is.

#include <memory>
#include <string>
#include <vector>

#include "computed_torque.hpp"
#include "controller_interface/controller_interface.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "trajectory_msgs/msg/joint_trajectory_point.hpp"

namespace computed_torque {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;

class ComputedTorqueController : public controller_interface::ControllerInterface {
 public:
  CallbackReturn on_init() override {
    auto_declare<std::string>("fingerprint", STACKER_RECLAIMER_FINGERPRINT);
    auto_declare<std::vector<double>>("kp", std::vector<double>(size, 4.0));
    auto_declare<std::vector<double>>("kd", std::vector<double>(size, 4.0));
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_EFFORT});
  }

  InterfaceConfiguration state_interface_configuration() const override {
    return interfaces({hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY});
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {
    const auto kp = get_node()->get_parameter("kp").as_double_array();
    const auto kd = get_node()->get_parameter("kd").as_double_array();
    if (kp.size() != size || kd.size() != size) {
      RCLCPP_ERROR(get_node()->get_logger(), "kp and kd need %d numbers each", size);
      return CallbackReturn::FAILURE;
    }
    try {
      law_ = std::make_unique<Law>(
          get_node()->get_parameter("fingerprint").as_string().c_str(),
          Eigen::Map<const Vector>(kp.data()), Eigen::Map<const Vector>(kd.data()));
    } catch (const std::runtime_error &error) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return CallbackReturn::FAILURE;
    }
    reference_topic_ = get_node()->create_subscription<trajectory_msgs::msg::JointTrajectoryPoint>(
        "~/reference", rclcpp::SystemDefaultsQoS(),
        [this](const trajectory_msgs::msg::JointTrajectoryPoint &point) { receive(point); });
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {
    Reference here;
    if (!measure(here.q, here.qd)) return CallbackReturn::FAILURE;
    here.qd.setZero();
    reference_.writeFromNonRT(here);
    return CallbackReturn::SUCCESS;
  }

  // Called in every cycle, by the real-time thread.
  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override {
    Vector q, qd;
    if (!measure(q, qd)) return return_type::ERROR;
    const Vector tau = law_->effort(q, qd, *reference_.readFromRT());
    if (!tau.allFinite()) return return_type::ERROR;
    for (int k = 0; k < size; ++k) {
      if (!command_interfaces_[k].set_value(tau[k])) return return_type::ERROR;
    }
    return return_type::OK;
  }

 private:
  static InterfaceConfiguration interfaces(const std::vector<std::string> &kinds) {
    InterfaceConfiguration wanted{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
    for (const auto &kind : kinds) {
      for (const char *joint : stacker_reclaimer_joint_names) {
        wanted.names.push_back(std::string(joint) + "/" + kind);
      }
    }
    return wanted;
  }

  // All positions come first, then all velocities: as the interfaces were asked for.
  bool measure(Vector &q, Vector &qd) const {
    for (int k = 0; k < size; ++k) {
      const auto position = state_interfaces_[k].get_optional();
      const auto velocity = state_interfaces_[size + k].get_optional();
      if (!position || !velocity) return false;
      q[k] = *position;
      qd[k] = *velocity;
    }
    return true;
  }

  void receive(const trajectory_msgs::msg::JointTrajectoryPoint &point) {
    if (point.positions.size() != size || point.velocities.size() != size ||
        point.accelerations.size() != size) {
      RCLCPP_ERROR(get_node()->get_logger(), "a reference needs %d numbers of each kind", size);
      return;
    }
    Reference next;
    next.q = Eigen::Map<const Vector>(point.positions.data());
    next.qd = Eigen::Map<const Vector>(point.velocities.data());
    next.qdd = Eigen::Map<const Vector>(point.accelerations.data());
    if (!next.q.allFinite() || !next.qd.allFinite() || !next.qdd.allFinite()) {
      RCLCPP_ERROR(get_node()->get_logger(), "a reference is not finite");
      return;
    }
    reference_.writeFromNonRT(next);
  }

  std::unique_ptr<Law> law_;
  realtime_tools::RealtimeBuffer<Reference> reference_;
  rclcpp::Subscription<trajectory_msgs::msg::JointTrajectoryPoint>::SharedPtr reference_topic_;
};

}  // namespace computed_torque

PLUGINLIB_EXPORT_CLASS(
    computed_torque::ComputedTorqueController, controller_interface::ControllerInterface)
